// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { arrived, field, show } from './composerTesting'

beforeEach(() => localStorage.clear())
afterEach(cleanup)

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
  it.each(['paste', 'drop'])(
    'takes a %s of more than a message may have as a file, and less as what it is',
    async (kind) => {
      const { emitted } = show()
      const give = (words: string) => {
        const event = new Event(kind, { bubbles: true, cancelable: true })
        const data = { files: [], types: ['text/plain'], getData: () => words }
        Object.assign(event, { [kind === 'drop' ? 'dataTransfer' : 'clipboardData']: data })
        field().dispatchEvent(event)
        return event.defaultPrevented
      }
      expect(give('x'.repeat(100_000))).toBe(false)
      // Each is one character of two units.
      expect(give('\u{1f600}'.repeat(60_000))).toBe(false)
      await userEvent.type(field(), 'see')
      expect(give('x'.repeat(99_999))).toBe(true)
      expect(await screen.findByText('pasted-text.txt')).toBeTruthy()
      expect(screen.getByText(/goes along as a file/)).toBeTruthy()
      expect(field()).toHaveProperty('value', 'see')
      expect(emitted()['send']).toBeUndefined()
    },
  )
  it('puts no draft into the box that is too long for a message, and keeps it until it is attached or discarded', async () => {
    localStorage.setItem('draft:u:long', 'x'.repeat(100_001))
    show({ sessionId: 'long' })
    expect(field()).toHaveProperty('value', '')
    expect(screen.getByText('Your draft of 100,001 characters is too long for a message.')).toBeTruthy()
    await userEvent.type(field(), 'and{Enter}and')
    expect(localStorage.getItem('draft:u:long')).toHaveLength(100_001)
    await userEvent.click(screen.getByRole('button', { name: 'Attach it as a file' }))
    expect(await screen.findByText('pasted-text.txt')).toBeTruthy()
    expect(localStorage.getItem('draft:u:long')).toBe('and')
    expect(screen.queryByText(/^Your draft of/)).toBeNull()
  })
  it('hands a page up or down on where its own text has no more of that', async () => {
    const { emitted } = show()
    const box = field()
    let top = 0
    Object.defineProperty(box, 'scrollHeight', { value: 300 })
    Object.defineProperty(box, 'clientHeight', { value: 100 })
    Object.defineProperty(box, 'scrollTop', { get: () => top })
    box.focus()
    await userEvent.keyboard('{PageDown}')
    expect(emitted()['page']).toBeUndefined()
    await userEvent.keyboard('{PageUp}{Shift>}{PageUp}{/Shift}')
    top = 200
    await userEvent.keyboard('{PageUp}{PageDown}')
    expect(emitted()['page']).toEqual([[-1], [1]])
  })
})
