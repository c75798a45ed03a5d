// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, fireEvent, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { enterMeans, usePresets } from '@/features/settings'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import { field, show } from './composerTesting'

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  vi.stubGlobal('matchMedia', () => ({ matches: true, addEventListener: vi.fn(), removeEventListener: vi.fn() }))
  startFakeServer({
    'GET /skills': () => json([{ name: 'sweep', description: 'Sweeps the floor.' }]),
    'GET /sessions/s/files?path=': () =>
      json([
        { path: 'src', name: 'src', size: 0, modified_at: '', is_dir: true },
        { path: 'a b.md', name: 'a b.md', size: 1, modified_at: '', is_dir: false },
      ]),
    'GET /sessions/s/files?path=src': () =>
      json([{ path: 'src/one.py', name: 'one.py', size: 1, modified_at: '', is_dir: false }]),
  })
})
afterEach(() => {
  cleanup()
  enterMeans.value = 'interrupts'
  vi.unstubAllGlobals()
})
const options = (): string[] => screen.queryAllByRole('option').map((one) => one.textContent?.trim() ?? '')
const value = (): string => (field() as HTMLTextAreaElement).value

describe('a slash at the beginning', () => {
  it('changes how the agent works, by a mode that is typed or chosen', async () => {
    startFakeServer({
      'GET /skills': () => json([]),
      'GET /presets': () => json(['general', 'research', 'coding'].map((id) => aPreset(id))),
    })
    await usePresets().load()
    const { emitted } = show({ sessionId: 's1' })
    await userEvent.type(field(), '/mod{Enter}')
    expect(value()).toBe('/mode ')
    const names = screen.getAllByRole('option').map((one) => one.querySelector('.font-mono')?.textContent)
    expect(names).toEqual(['/mode plan', '/mode research', '/mode code'])
    await userEvent.type(field(), 'res{Enter}')
    expect([emitted()['command'], value()]).toEqual([[['mode:research']], ''])
  })
  it('takes a mode that is sent as a message, and refuses one that there is not in place', async () => {
    startFakeServer({
      'GET /skills': () => json([]),
      'GET /presets': () => json(['general', 'research'].map((id) => aPreset(id))),
    })
    await usePresets().load()
    const { emitted } = show({ sessionId: 's1', mode: 'research' })
    const send = () => userEvent.click(screen.getByRole('button', { name: 'Send' }))
    await userEvent.type(field(), '/mode nonsense{Enter}')
    const refusal = await screen.findByText(/^There is no mode “nonsense”.*: plan, research \(on now\)\.$/)
    expect([value(), refusal.getAttribute('role')]).toEqual(['/mode nonsense', 'alert'])
    await userEvent.clear(field())
    expect(screen.queryByText(/There is no mode/)).toBeNull()
    await userEvent.type(field(), '/mode{Escape}')
    await send()
    expect(await screen.findByText(/^Choose a mode: plan, research \(on now\)/)).toBeTruthy()
    expect(value()).toBe('/mode ')
    await vi.waitFor(() => expect(options().join()).toMatch(/mode plan.*mode research.*\(on now\)/))
    await userEvent.type(field(), 'PLAN{Escape}')
    await send()
    expect([value(), emitted()['send'], emitted()['command']]).toEqual(['', undefined, [['mode:plan']]])
    await userEvent.type(field(), '/modes of transport{Enter}')
    expect(emitted<unknown[]>('send')?.[0]?.[0]).toBe('/modes of transport')
  })
  it('offers commands and skills, which the arrows choose', async () => {
    const { emitted } = show({ sessionId: 's1' })
    await userEvent.type(field(), '/')
    await vi.waitFor(() => expect(options().join()).toContain('/sweep'))
    const names = screen.getAllByRole('option').map((one) => one.querySelector('.font-mono')?.textContent)
    expect(names).toEqual(['/new', '/compact', '/mode', '/models', '/sweep'])
    await userEvent.type(field(), '{ArrowDown}{Enter}')
    expect(emitted()['command']).toEqual([['compact']])
    expect([value(), emitted()['send'], options()]).toEqual(['', undefined, []])
    await userEvent.type(field(), '/swe{Tab}')
    expect(value()).toBe('Use the skill sweep: ')
  })
  it('offers to stop what runs, and Esc puts the offer away before it stops anything', async () => {
    const { emitted } = show({ sessionId: 's2', isRunning: true })
    await userEvent.type(field(), '/st')
    expect(options()).toHaveLength(1)
    await userEvent.keyboard('{Escape}')
    expect([options(), emitted()['stop']]).toEqual([[], undefined])
    await userEvent.keyboard('{Escape}')
    expect(emitted()['stop']).toHaveLength(1)
  })
  it('is a message like any other where nothing fits', async () => {
    const { emitted } = show({ sessionId: 's3' })
    await userEvent.type(field(), '/etc/hosts is gone{Enter}')
    expect(emitted<unknown[]>('send')?.[0]?.[0]).toBe('/etc/hosts is gone')
  })
})
it('names a file of the workspace after @, folder by folder', async () => {
  show()
  await userEvent.type(field(), 'read @')
  await vi.waitFor(() => expect(options()).toEqual(['src/', 'a b.md']))
  await userEvent.keyboard('{Enter}')
  expect(value()).toBe('read @src/')
  await vi.waitFor(() => expect(options()).toEqual(['one.py']))
  await userEvent.click(screen.getByRole('option', { name: /one.py/ }))
  expect([value(), options()]).toEqual(['read `src/one.py` ', []])
})
it('neither sends nor chooses while an input method composes', async () => {
  const { emitted } = show({ sessionId: 's4' })
  await userEvent.type(field(), '/ne')
  for (const composing of [{ isComposing: true }, { keyCode: 229 }])
    await fireEvent.keyDown(field(), { key: 'Enter', ...composing })
  await userEvent.type(field(), '{Escape}')
  await fireEvent.keyDown(field(), { key: 'Enter', isComposing: true })
  await fireEvent.keyDown(field(), { key: 'Enter', keyCode: 229 })
  expect([emitted()['command'], emitted()['send'], value()]).toEqual([undefined, undefined, '/ne'])
})
it('means by Enter what the person chose, and by Alt+Enter the other', async () => {
  enterMeans.value = 'waits'
  expect(localStorage.getItem('enter')).toBe('waits')
  const { emitted } = show({ sessionId: 's5', isRunning: true })
  await userEvent.type(field(), 'one{Enter}')
  await userEvent.type(field(), 'two{Alt>}{Enter}{/Alt}')
  expect(emitted()['send']).toEqual([
    ['one', [], false],
    ['two', [], true],
  ])
})
it('queues by Enter for who chose that, and cuts in by Alt+Enter', async () => {
  enterMeans.value = 'queues'
  expect(localStorage.getItem('enter')).toBe('queues')
  const { emitted, rerender } = show({ sessionId: 's9', isRunning: true })
  expect(field().getAttribute('placeholder')).toBe('Type what goes once the agent is done…')
  await userEvent.type(field(), 'one{Enter}')
  await userEvent.type(field(), 'two{Alt>}{Enter}{/Alt}')
  await userEvent.type(field(), 'three')
  await userEvent.click(screen.getByRole('button', { name: 'Queue' }))
  await rerender({ isRunning: false })
  await userEvent.type(field(), 'four{Enter}')
  expect(emitted()['queue']).toEqual([
    ['one', []],
    ['three', []],
  ])
  expect(emitted()['send']).toEqual([
    ['two', [], true],
    ['four', [], false],
  ])
})
describe('files that are dropped', () => {
  const held = (type: string, files = [new File(['x'], 'good.txt')]): Event => {
    const event = new Event(type, { bubbles: true, cancelable: true })
    Object.assign(event, { dataTransfer: { types: ['Files'], files, dropEffect: 'copy' } })
    return event
  }
  it('beside the box go with the message, and where they go is shown', async () => {
    show({ sessionId: 's6' })
    const over = held('dragover')
    document.body.dispatchEvent(over)
    await nextTick()
    expect([over.defaultPrevented, !!document.querySelector('[data-drop-overlay]')]).toEqual([true, true])
    const drop = held('drop')
    document.body.dispatchEvent(drop)
    expect(drop.defaultPrevented).toBe(true)
    expect(await screen.findByRole('button', { name: 'Remove good.txt' })).toBeTruthy()
    expect(document.querySelector('[data-drop-overlay]')).toBeNull()
  })
  it('on another place or beside a dialog are not taken, and never open in the tab', async () => {
    show({ sessionId: 's7' })
    const drop = held('drop')
    drop.preventDefault()
    document.body.dispatchEvent(drop)
    const dialog = document.body.appendChild(document.createElement('div'))
    dialog.setAttribute('role', 'dialog')
    const beside = held('drop')
    document.body.dispatchEvent(beside)
    dialog.remove()
    expect(beside.defaultPrevented).toBe(true)
    await nextTick()
    expect(screen.queryByRole('list', { name: 'Attached files' })).toBeNull()
  })
})
it('keeps the files that have arrived over a reload', async () => {
  localStorage.setItem('draft:u:s8:files', JSON.stringify([{ name: 'notes.md', path: 'in/notes.md' }]))
  const { emitted } = show({ sessionId: 's8' })
  expect(within(screen.getByRole('list', { name: 'Attached files' })).getByText('notes.md')).toBeTruthy()
  await userEvent.type(field(), 'read it{Enter}')
  expect(emitted()['send']).toEqual([['read it', ['in/notes.md'], false]])
  await nextTick()
  expect(localStorage.getItem('draft:u:s8:files')).toBeNull()
})
