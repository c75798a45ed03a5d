// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { i18n } from '@/i18n'
import ComposerBox from './ComposerBox.vue'

let arrived: () => void = () => undefined
const slowly = (): Promise<string[]> => new Promise((resolve) => (arrived = () => resolve(['in/slow.txt'])))
vi.mock('@/api/upload', () => ({
  uploadFiles: (_: string, [file]: readonly File[]) =>
    file?.name === 'slow.txt'
      ? slowly()
      : file?.name === 'good.txt'
        ? Promise.resolve(['in/good.txt'])
        : Promise.reject(
            file?.name === 'large.bin'
              ? ApiError.fromText(413, '{"code": "upload_too_large", "limit_bytes": 0}')
              : ApiError.unreachable(),
          ),
}))

beforeEach(() => localStorage.clear())
afterEach(cleanup)

function show(props: { isRunning?: boolean; isWaiting?: boolean; sessionId?: string | null } = {}) {
  const ensureSession = () => Promise.resolve('s')
  return render(ComposerBox, {
    props: { writer: 'u', sessionId: 's', isRunning: false, isStopping: false, ensureSession, ...props },
    global: { plugins: [i18n] },
  })
}
const field = (): HTMLElement => screen.getByRole('textbox', { name: 'Message' })

describe('ComposerBox', () => {
  it('sends on Enter and breaks the line on Shift+Enter', async () => {
    const { emitted } = show()
    await userEvent.type(field(), 'one{Shift>}{Enter}{/Shift}two{Enter}')
    expect(emitted()['send']).toEqual([['one\ntwo', [], false]])
    expect(field()).toHaveProperty('value', '')
  })
  it('has the focus in each conversation that is come to, unless something else is written or a screen is touched', async () => {
    const { rerender } = show({ sessionId: null })
    const pressed = document.body.appendChild(document.createElement('button'))
    const other = document.body.appendChild(document.createElement('input'))
    for (const [holder, next, isHere] of [
      [pressed, 'one', true],
      [other, 'two', false],
    ] as const) {
      holder.focus()
      await rerender({ sessionId: next })
      expect(document.activeElement === field()).toBe(isHere)
    }
    vi.spyOn(window, 'matchMedia').mockReturnValue({ matches: false } as MediaQueryList)
    pressed.focus()
    await rerender({ sessionId: 'three' })
    expect(document.activeElement).toBe(pressed)
    pressed.remove()
    other.remove()
  })
  it('stops a run that waits, and sends what is written instead of its answer or to be read after that', async () => {
    const { emitted } = show({ isWaiting: true })
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }))
    expect(emitted()['stop']).toHaveLength(1)
    await userEvent.type(field(), 'red{Enter}')
    await userEvent.type(field(), 'blue')
    await userEvent.click(screen.getByRole('button', { name: 'Send instead' }))
    await userEvent.type(field(), 'and soon')
    const later = screen.getByRole('button', { name: 'Send without interrupting' })
    expect(later.title).toContain('once you have decided or answered')
    await userEvent.click(later)
    await userEvent.type(field(), 'please{Alt>}{Enter}{/Alt}')
    expect(emitted()['send']).toEqual([
      ['red', [], true],
      ['blue', [], true],
      ['and soon', [], false],
      ['please', [], false],
    ])
  })
  it('sends nothing when there is nothing', async () => {
    const { emitted } = show()
    await userEvent.type(field(), '  {Enter}')
    expect(emitted()['send']).toBeUndefined()
  })
  it('cuts in on Enter and waits its turn on Alt+Enter while the agent runs', async () => {
    const { emitted } = show({ isRunning: true })
    await userEvent.type(field(), 'now{Enter}')
    await userEvent.type(field(), 'later{Alt>}{Enter}{/Alt}')
    expect(emitted()['send']).toEqual([
      ['now', [], true],
      ['later', [], false],
    ])
    expect(field()).toHaveProperty('disabled', false)
  })
  it('offers stop while the agent runs, and both ways to send beside it once something is written', async () => {
    const { emitted } = show({ isRunning: true })
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }))
    expect(emitted()['stop']).toHaveLength(1)
    await userEvent.type(field(), 'wait')
    await userEvent.click(screen.getByRole('button', { name: 'Interrupt and send' }))
    await userEvent.type(field(), 'more')
    await userEvent.click(screen.getByRole('button', { name: 'Send without interrupting' }))
    expect(emitted()['send']).toEqual([
      ['wait', [], true],
      ['more', [], false],
    ])
    await userEvent.type(field(), 'no')
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }))
    expect(emitted()['stop']).toHaveLength(2)
  })
  it('stops on Escape only while the agent runs', async () => {
    const { emitted, rerender } = show()
    await userEvent.type(field(), '{Escape}')
    expect(emitted()['stop']).toBeUndefined()
    await rerender({ isRunning: true })
    await userEvent.type(field(), '{Escape}')
    expect(emitted()['stop']).toHaveLength(1)
    expect(screen.getByRole('button', { name: 'Stop' }).title).toBe('Stop (Esc in the message box)')
  })
  it('stops on no Escape from elsewhere, and on none that cancels a word of an input method', async () => {
    const { emitted } = show({ isRunning: true })
    const card = document.body.appendChild(document.createElement('button'))
    card.focus()
    await userEvent.keyboard('{Escape}')
    card.remove()
    await userEvent.keyboard('{Escape}')
    field().focus()
    field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true }))
    field().dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', keyCode: 229, bubbles: true }))
    expect(emitted()['stop']).toBeUndefined()
  })
  it('keeps a draft for each session', async () => {
    const { rerender } = show()
    await userEvent.type(field(), 'first')
    await rerender({ sessionId: 'other' })
    expect(field()).toHaveProperty('value', '')
    await rerender({ sessionId: 's' })
    expect(field()).toHaveProperty('value', 'first')
  })
  it('keeps the files of each session apart, and sends none of them with another one', async () => {
    const { emitted, rerender } = show({ sessionId: 'one' })
    await userEvent.upload(screen.getByLabelText('Attach files', { selector: 'input' }), new File(['x'], 'good.txt'))
    await screen.findByText('good.txt')
    await rerender({ sessionId: 'two' })
    expect(screen.queryByText('good.txt')).toBeNull()
    await userEvent.type(field(), 'hello{Enter}')
    expect(emitted()['send']).toEqual([['hello', [], false]])
    await rerender({ sessionId: 'one' })
    expect(screen.getByText('good.txt')).toBeTruthy()
    await userEvent.type(field(), 'look{Enter}')
    expect(emitted()['send']?.[1]).toEqual(['look', ['in/good.txt'], false])
  })
  it('does not send in another session what waits for its files', async () => {
    const { emitted, rerender } = show({ sessionId: 'waits' })
    await userEvent.upload(screen.getByLabelText('Attach files', { selector: 'input' }), new File(['x'], 'slow.txt'))
    await userEvent.type(field(), 'look{Enter}')
    expect(screen.getByText('Sends when the files have arrived')).toBeTruthy()
    await rerender({ sessionId: 'elsewhere' })
    arrived()
    await rerender({ sessionId: 'waits' })
    await screen.findByText('slow.txt')
    expect(field()).toHaveProperty('value', 'look')
    expect(emitted()['send']).toBeUndefined()
  })
  it('shows what somebody began to write to nobody else', async () => {
    const { rerender } = show({ sessionId: null })
    await userEvent.type(field(), 'mine')
    await rerender({ writer: 'another' })
    expect(field()).toHaveProperty('value', '')
    await rerender({ writer: 'u' })
    expect(field()).toHaveProperty('value', 'mine')
  })
  it('sends with the files that arrived, and keeps those that did not, which alone are nothing to send', async () => {
    const { emitted } = show()
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(
      picker,
      ['good.txt', 'large.bin', 'late.txt'].map((name) => new File(['x'], name)),
    )
    await screen.findByText('The server can’t be reached.')
    expect(screen.queryByRole('button', { name: 'Upload large.bin again' })).toBeNull()
    await userEvent.type(field(), 'look{Enter}')
    expect(emitted()['send']).toEqual([['look', ['in/good.txt'], false]])
    expect(screen.queryByText('good.txt')).toBeNull()
    expect(screen.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('true')
    expect(screen.getByRole('button', { name: 'Upload late.txt again' })).toBeTruthy()
  })
  it('says of a file that is too large how large it is and may be, and keeps it on show until it is removed', async () => {
    const { emitted } = show({ sessionId: 'large' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.upload(picker, new File(['x'], 'large.bin'))
    expect(await screen.findByText('This file is 1 B; a file may have at most 0 B.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Remove large.bin' }))
    expect(screen.queryByText('large.bin')).toBeNull()
    await userEvent.upload(picker, new File(['x'], 'large.bin'))
    await screen.findByRole('alert')
    await userEvent.type(field(), 'without it{Enter}')
    expect(emitted()['send']).toEqual([['without it', [], false]])
    expect(screen.getByRole('alert').textContent).toBe('This file is 1 B; a file may have at most 0 B.')
    await userEvent.click(screen.getByRole('button', { name: 'Remove large.bin' }))
    expect(screen.queryByText('large.bin')).toBeNull()
  })
  it('keeps what was refused on show when the rest went by itself', async () => {
    const { emitted } = show({ sessionId: 'itself' })
    const picker = screen.getByLabelText('Attach files', { selector: 'input' })
    await userEvent.type(field(), 'look')
    await userEvent.upload(
      picker,
      ['large.bin', 'slow.txt'].map((name) => new File(['x'], name)),
    )
    await userEvent.type(field(), '{Enter}')
    arrived()
    await vi.waitFor(() => expect(emitted()['send']).toEqual([['look', ['in/slow.txt'], false]]))
    expect(screen.getByText('large.bin')).toBeTruthy()
  })
})
