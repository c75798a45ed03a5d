// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, ref, shallowRef } from 'vue'
import { MOST_CHARACTERS, useClipboardThere } from './useClipboardThere'

let scope = effectScope()
const hasControl = ref(true)
const pasted: string[] = []
const pressed: [number, boolean | undefined][] = []
const written = vi.fn<(text: string) => Promise<void>>()

function clipboard() {
  const target = document.createElement('div')
  target.innerHTML = '<canvas tabindex="-1"></canvas>'
  document.body.append(target)
  target.querySelector('canvas')?.focus()
  const desktop = {
    paste: (text: string) => pasted.push(text),
    press: (symbol: number, down?: boolean) => pressed.push([symbol, down]),
  }
  const used = scope.run(() => useClipboardThere(shallowRef(target), () => hasControl.value, desktop))
  if (!used) throw new Error('the scope is over')
  return used
}
/** As a browser does it: the keys, and what they bring unless somebody takes them. Whether the viewer saw the keys. */
function paste(text: string): boolean {
  const keys = new KeyboardEvent('keydown', { key: 'v', ctrlKey: true, bubbles: true })
  const seen = vi.fn()
  document.activeElement?.addEventListener('keydown', seen, { once: true })
  document.activeElement?.dispatchEvent(keys)
  const data = { getData: () => text }
  document.dispatchEvent(
    Object.assign(new Event('paste', { bubbles: true, cancelable: true }), { clipboardData: data }),
  )
  return seen.mock.calls.length > 0
}

beforeEach(() => {
  scope = effectScope()
  hasControl.value = true
  pasted.length = pressed.length = 0
  written.mockReset().mockResolvedValue(undefined)
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: written } })
})
afterEach(() => {
  scope.stop()
  document.body.replaceChildren()
  vi.unstubAllGlobals()
})

it('puts what is copied there into the clipboard here, for who drives alone', async () => {
  const { copied, untaken } = clipboard()
  await copied('你好')
  expect(written).toHaveBeenCalledWith('你好')
  expect(untaken.value).toBeNull()
  hasControl.value = false
  await copied('of somebody else')
  expect(written).toHaveBeenCalledTimes(1)
})
it('keeps what a browser takes only by a press', async () => {
  const { copied, untaken } = clipboard()
  written.mockRejectedValue(new Error('not allowed'))
  await copied('kept')
  expect(untaken.value).toBe('kept')
})
it('pastes the text there, before the keys that paste it', () => {
  clipboard()
  expect(paste('from here')).toBe(false)
  expect(pasted).toEqual(['from here'])
  expect(pressed.slice(-3)).toEqual([
    [0xffe3, true],
    [0x76, undefined],
    [0xffe3, false],
  ])
})
it('refuses what is too large for a clipboard, and says of which size it is', async () => {
  const { tooLarge, copied } = clipboard()
  const large = 'x'.repeat(10 * MOST_CHARACTERS)
  paste(large)
  expect([pasted, pressed]).toEqual([[], []])
  expect(tooLarge.value).toBe(large.length)
  await copied('small')
  expect(tooLarge.value).toBeNull()
  await copied(large)
  expect(tooLarge.value).toBe(large.length)
  expect(written).toHaveBeenCalledTimes(1)
})
it('leaves the keys alone where nobody drives, or where one writes elsewhere', () => {
  clipboard()
  hasControl.value = false
  expect(paste('text')).toBe(true)
  hasControl.value = true
  const field = document.body.appendChild(document.createElement('input'))
  field.focus()
  expect(paste('text')).toBe(true)
  expect(pasted).toEqual([])
})
