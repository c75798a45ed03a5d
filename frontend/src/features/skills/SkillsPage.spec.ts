// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Skill } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { later } from '@/shared/testing/later'
import SkillsPage from './SkillsPage.vue'

const pdf: Skill = {
  name: 'pdf',
  description: 'Make PDF files.',
  origin: 'bundled',
  digest: 'd',
  size: 2048,
  files: 2,
  source: null,
  created_at: null,
  replaces: null,
}
const knots: Skill = { ...pdf, name: 'knots', description: 'How to tie.', origin: 'user' }

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(list: Skill[], answers: Parameters<typeof startFakeServer>[0] = {}) {
  const server = startFakeServer({ 'GET /skills': () => json(list), ...answers })
  render(SkillsPage, { global: { plugins: [i18n] } })
  return server
}

describe('the page of skills', () => {
  it('lists all with whose they are, and only those of ones own can be deleted', async () => {
    show([knots, pdf])
    const [first, second] = await screen.findAllByRole('listitem')
    expect(first?.textContent).toMatch(/knots.*yours.*How to tie\./)
    expect(within(first as HTMLElement).getByRole('button', { name: 'Delete knots' })).toBeTruthy()
    expect(second?.textContent).toMatch(/pdf.*built in.*Makes, reads and takes apart PDF files\./)
    expect(within(second as HTMLElement).queryByRole('button', { name: /Delete/ })).toBeNull()
  })
  it('says in Chinese what those of the product are for, and leaves the words of all others', async () => {
    i18n.global.locale.value = 'zh'
    show([{ ...pdf, origin: 'user' }, pdf])
    const [own, product] = await screen.findAllByRole('listitem')
    expect(own?.textContent).toContain('Make PDF files.')
    expect(product?.textContent).toContain('制作、阅读和拆分 PDF 文件。')
    i18n.global.locale.value = 'en'
  })
  it('opens one with all it says, characters that nobody sees included, and closes it by the keyboard', async () => {
    const whole = { ...pdf, instructions: 'Print **it**.\u202eX', paths: ['SKILL.md', 'scripts/print.sh'] }
    show([pdf], { 'GET /skills/pdf': () => json(whole) })
    const button = await screen.findByRole('button', { name: /pdf/ })
    button.focus()
    await userEvent.keyboard('{Enter}')
    expect((await screen.findByText('it')).tagName).toBe('STRONG')
    expect(screen.getByText(/scripts\/print\.sh/)).toBeTruthy()
    expect(document.body.textContent).not.toContain('\u202e')
    expect(button.getAttribute('aria-expanded')).toBe('true')
    await userEvent.keyboard('{Enter}')
    expect(button.getAttribute('aria-expanded')).toBe('false')
  })
  it('shows the one that was opened last, also where the one before is told late', async () => {
    const late = later<undefined>()
    const { calls } = show([knots, pdf], {
      'GET /skills/knots': async () => {
        await late.promise
        return json({ ...knots, instructions: 'Tie it.', paths: [] })
      },
      'GET /skills/pdf': () => json({ ...pdf, instructions: 'Print it.', paths: [] }),
    })
    await userEvent.click(await screen.findByRole('button', { name: /^knots/ }))
    await userEvent.click(screen.getByRole('button', { name: /^pdf/ }))
    expect(await screen.findByText('Print it.')).toBeTruthy()
    late.resolve(undefined)
    await vi.waitFor(() => expect(calls).toHaveLength(3))
    await new Promise((resolve) => setTimeout(resolve))
    expect(screen.getByText('Print it.')).toBeTruthy()
    expect(screen.queryByText('Tie it.')).toBeNull()
  })
  it('uploads one, says so and lists it', async () => {
    const list = [pdf]
    const server = show(list, {
      'POST /skills': () => {
        list.unshift(knots)
        return json(knots, 201)
      },
    })
    await screen.findByRole('listitem')
    await userEvent.upload(
      screen.getByLabelText('Upload a skill'),
      new File(['x'], 'knots.zip', { type: 'application/zip' }),
    )
    expect((await screen.findByRole('status')).textContent).toContain('knots')
    expect(await screen.findAllByRole('listitem')).toHaveLength(2)
    const posted = server.calls.find((one) => one.method === 'POST')
    expect(posted?.headers.get('content-type')).toBeNull()
  })
  it.each([
    ['bundled', 'the built-in one', 'The built-in one is used again.'],
    ['deployment', 'the one of this server', 'The one of this server is used again.'],
  ] as const)(
    'says that one takes the place of a %s one, which is used again without it',
    async (replaces, of, again) => {
      const own: Skill = { ...pdf, origin: 'user', replaces }
      let list = [pdf]
      show([], {
        'GET /skills': () => json(list),
        'POST /skills': () => {
          list = [own, knots]
          return json(own, 201)
        },
      })
      await screen.findByRole('listitem')
      await userEvent.upload(
        screen.getByLabelText('Upload a skill'),
        new File(['x'], 'pdf.zip', { type: 'application/zip' }),
      )
      expect((await screen.findByRole('status')).textContent).toContain(`pdf is there now, in the place of ${of}.`)
      await userEvent.click(screen.getByRole('button', { name: 'Delete pdf' }))
      expect(screen.getByText(`Delete pdf? ${again}`)).toBeTruthy()
      await userEvent.click(screen.getByRole('button', { name: 'Delete knots' }))
      expect(screen.getByText('Delete knots?')).toBeTruthy()
    },
  )
  it('says why one was refused, and keeps the list', async () => {
    show([pdf], { 'POST /skills': () => problem(422, 'skill_refused', "'../x' points outside the skill's folder.") })
    await screen.findByRole('listitem')
    await userEvent.upload(
      screen.getByLabelText('Upload a skill'),
      new File(['x'], 'a.zip', { type: 'application/zip' }),
    )
    expect((await screen.findByRole('alert')).textContent).toContain('points outside')
    expect(screen.getAllByRole('listitem')).toHaveLength(1)
  })
  it('says that an address is missing, and goes to where it is written', async () => {
    const server = show([pdf])
    await screen.findByRole('listitem')
    await userEvent.click(screen.getByRole('button', { name: 'Install' }))
    const field = screen.getByLabelText('From an address')
    expect(screen.getByRole('alert').textContent).toBe('Write the address of a skill first.')
    expect([document.activeElement, field.getAttribute('aria-invalid')]).toEqual([field, 'true'])
    await userEvent.type(field, 'h')
    expect([screen.queryByRole('alert'), field.getAttribute('aria-invalid')]).toEqual([null, null])
    expect(server.calls.some(({ method }) => method === 'POST')).toBe(false)
  })
  it('installs one from an address by the keyboard, and keeps the address where it was refused', async () => {
    const list = [pdf]
    let refusal: Response | null = problem(422, 'address_refused', '10.0.0.1 is not a public address.')
    const server = show(list, {
      'POST /skills': () => {
        if (refusal) return refusal
        list.unshift({ ...knots, source: 'https://a.example/k.zip' })
        return json(knots, 201)
      },
    })
    await screen.findByRole('listitem')
    const field = screen.getByLabelText<HTMLInputElement>('From an address')
    await userEvent.type(field, '{Enter}')
    expect(server.calls.some((one) => one.method === 'POST')).toBe(false)
    await userEvent.type(field, ' https://a.example/k.zip {Enter}')
    expect((await screen.findByRole('alert')).textContent).toContain('not a public address')
    expect(field.value).toContain('k.zip')
    refusal = null
    await userEvent.click(screen.getByRole('button', { name: 'Install' }))
    expect((await screen.findByRole('status')).textContent).toContain('knots')
    expect(await screen.findAllByRole('listitem')).toHaveLength(2)
    expect(field.value).toBe('')
    expect(screen.queryByRole('alert')).toBeNull()
    expect(server.calls.filter((one) => one.method === 'POST').map((one) => one.body)).toEqual(
      Array(2).fill({ url: 'https://a.example/k.zip' }),
    )
  })
  it('asks before one is deleted, and then moves the focus to what is left', async () => {
    let list = [knots, pdf]
    show(list, {
      'GET /skills': () => json(list),
      'DELETE /skills/knots': () => {
        list = [pdf]
        return new Response(null, { status: 204 })
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Delete knots' }))
    await userEvent.click(screen.getByRole('button', { name: 'Delete skill' }))
    expect(await screen.findAllByRole('listitem')).toHaveLength(1)
    expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Skills' }))
  })
})
