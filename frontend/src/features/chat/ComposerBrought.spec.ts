// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import ComposerBox from './ComposerBox.vue'

vi.mock('@/api/upload', () => ({ uploadFiles: () => Promise.resolve(['pasted-text.txt']) }))
beforeEach(() => localStorage.clear())
afterEach(cleanup)

function show(props: { sessionId?: string; takesFiles?: boolean } = {}) {
  const ensureSession = () => Promise.resolve('s')
  return render(ComposerBox, {
    props: { writer: 'u', sessionId: 's', isRunning: false, isStopping: false, ensureSession, ...props },
    global: { plugins: [i18n] },
  })
}
const field = (): HTMLElement => screen.getByRole('textbox', { name: 'Message' })

describe('the message box', () => {
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
