// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Share } from '@/api/types'
import { addTexts, i18n, setLanguage } from '@/i18n'
import zh from '@/i18n/zh'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useShareDialog } from './shareDialog'
import ShareDialog from './ShareDialog.vue'
import SharesPage from './SharesPage.vue'

const link: Share = {
  id: 'l1',
  session_id: 's1',
  mode: 'snapshot',
  include: ['tools'],
  title: 'Notes',
  has_passphrase: true,
  created_at: '2026-11-28T10:00:00Z',
  expires_at: null,
  is_expired: false,
  file_count: 0,
  file_bytes: 0,
}
const plugins = [i18n]
const stubs = { RouterLink: { template: '<a><slot /></a>' } }

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  void setLanguage('en')
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the dialog that shares', () => {
  function show(answers: Parameters<typeof startFakeServer>[0] = {}) {
    const server = startFakeServer({ 'GET /sessions/s1/shares': () => json({ items: [] }), ...answers })
    useShareDialog().sessionId = 's1'
    render(ShareDialog, { global: { plugins, stubs } })
    return server
  }
  it('lets nothing go along that was not chosen, and names what the link will be on its button', async () => {
    const server = show({ 'POST /sessions/s1/shares': () => json({ ...link, url: '/share/l1#secret' }, 201) })
    await userEvent.click(await screen.findByRole('button', { name: 'Make a link to this snapshot' }))
    const field = await screen.findByLabelText('The link')
    expect((field as HTMLInputElement).value).toMatch(/^http.*\/share\/l1#secret$/)
    const sent = server.calls.find(({ method }) => method === 'POST')?.body as Record<string, unknown>
    expect(sent).toMatchObject({ mode: 'snapshot', include: [], passphrase: null })
    expect(Date.parse(String(sent['expires_at']))).toBeGreaterThan(Date.now())
  })
  it('makes a live link with what is ticked', async () => {
    const server = show({ 'POST /sessions/s1/shares': () => json({ ...link, url: '/share/l1#secret' }, 201) })
    await userEvent.click(await screen.findByRole('checkbox', { name: /thinking/ }))
    await userEvent.click(screen.getByRole('radio', { name: /live/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Make a live link' }))
    await screen.findByLabelText('The link')
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toMatchObject({
      mode: 'live',
      include: ['thinking'],
    })
  })
  it('saves a file in the language of the page', async () => {
    const server = show({ 'GET /sessions/s1/export': () => problem(503, 'no_pdf', 'No.') })
    await userEvent.click(await screen.findByRole('button', { name: 'PDF' }))
    await screen.findByRole('alert')
    expect(server.calls.find(({ path }) => path.includes('export'))?.path).toContain('language=en')
  })
  it('says that this server makes no PDF, and what to save instead', async () => {
    const words = 'This server makes no PDF. Save the conversation as Markdown.'
    const server = show({ 'GET /sessions/s1/export': () => problem(503, 'no_pdf', words) })
    const button = await screen.findByRole('button', { name: 'PDF' })
    await userEvent.click(button)
    expect((await screen.findByRole('alert')).textContent).toContain(words)
    expect(server.calls.filter(({ path }) => path.includes('export'))).toHaveLength(1)
    expect(button.getAttribute('aria-busy')).not.toBe('true')
  })
  it('offers a link that is revoked no longer', async () => {
    show({
      'GET /sessions/s1/shares': () => json({ items: [link] }),
      'POST /sessions/s1/shares': () => json({ ...link, url: '/share/l1#secret' }, 201),
      'DELETE /shares/l1': () => new Response(null, { status: 204 }),
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Make a link to this snapshot' }))
    await screen.findByLabelText('The link')
    await userEvent.click(await screen.findByRole('button', { name: 'Revoke the link to Notes' }))
    await userEvent.click(screen.getByRole('button', { name: 'Revoke' }))
    await vi.waitFor(() => expect(screen.queryByLabelText('The link')).toBeNull())
    expect(screen.queryByRole('button', { name: 'Copy' })).toBeNull()
  })
  it('says at the passphrase what is wrong with it', async () => {
    const words = 'A passphrase has from 6 to 200 characters.'
    const errors = [{ field: 'body.passphrase', code: 'invalid', message: words }]
    show({ 'POST /sessions/s1/shares': () => json({ status: 422, code: 'invalid', detail: words, errors }, 422) })
    const field = await screen.findByLabelText('Passphrase')
    await userEvent.type(field, 'abc')
    await userEvent.click(screen.getByRole('button', { name: 'Make a link to this snapshot' }))
    const alert = await screen.findByRole('alert')
    expect([alert.textContent, field.getAttribute('aria-describedby')]).toEqual([words, alert.id])
    expect(document.activeElement).toBe(field)
  })
  it('says in Chinese what is wrong with a passphrase, where the page is', async () => {
    addTexts('zh', zh)
    await setLanguage('zh')
    const errors = [
      { field: 'body.passphrase', code: 'invalid', message: 'A passphrase has from 6 to 200 characters.' },
    ]
    show({ 'POST /sessions/s1/shares': () => json({ status: 422, code: 'invalid', detail: 'Wrong.', errors }, 422) })
    await userEvent.type(await screen.findByLabelText('口令'), 'abc')
    await userEvent.click(screen.getByRole('button', { name: zh.share.make.snapshot }))
    expect((await screen.findByRole('alert')).textContent).toBe('口令需要 6 到 200 个字符。')
  })
  it('says what is wrong where no link is made', async () => {
    show({ 'POST /sessions/s1/shares': () => problem(409, 'share_quota', 'You have 200 links.') })
    await userEvent.click(await screen.findByRole('button', { name: 'Make a link to this snapshot' }))
    expect(await screen.findByText(/You have 200 links/)).toBeTruthy()
  })
})

describe('the page of links', () => {
  it('lists what each shows, and revokes one once that is confirmed', async () => {
    const server = startFakeServer({
      'GET /shares': () => json({ items: [link] }),
      'DELETE /shares/l1': () => new Response(null, { status: 204 }),
    })
    render(SharesPage, { global: { plugins, stubs } })
    const row = await screen.findByRole('listitem')
    expect(row.textContent).toMatch(/Notes.*Snapshot.*until you revoke it.*tools.*with a passphrase/i)
    await userEvent.click(within(row).getByRole('button', { name: 'Revoke the link to Notes' }))
    expect(server.calls).toHaveLength(1)
    await userEvent.click(within(row).getByRole('button', { name: 'Revoke' }))
    expect(await screen.findByText('The link is revoked.')).toBeTruthy()
    expect(screen.queryByRole('listitem')).toBeNull()
  })
})
