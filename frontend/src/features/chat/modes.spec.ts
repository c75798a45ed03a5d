// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useSessions } from '@/features/sessions'
import { usePresets, useUserSettings } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import { choiceOf, isNamedApart, modeOn, namedMode, offeredModes } from './modes'
import ModeChip from './ModeChip.vue'
import { useChosen } from './useChosen'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  localStorage.clear()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

it('offers the modes whose presets there are', () => {
  expect(offeredModes([])).toEqual(['plan'])
  expect(offeredModes([{ id: 'coding' }, { id: 'research' }, { id: 'writing' }])).toEqual([
    'plan',
    'research',
    'write',
    'code',
  ])
})
it('plans first in one mode alone', () => {
  expect(choiceOf('plan')).toEqual({ preset: null, options: { enable_plan_mode: true } })
  expect(choiceOf('write')).toEqual({ preset: 'writing', options: { enable_plan_mode: null } })
})
it.each([
  ['/mode', ''],
  [' /mode  Plan ', 'plan'],
  ['/MODE\nwrite a lot', 'write a lot'],
  ['/models', null],
  ['/mode/x', null],
  ['see /mode plan', null],
])('reads %j as a command', (text, named) => expect(namedMode(text)).toBe(named))
it('is none where the agent works as usual', () => {
  expect([modeOn(false, null, 'general'), modeOn(false, 'coding', 'coding'), modeOn(false, 'mine', 'general')]).toEqual(
    [null, null, null],
  )
  expect([modeOn(true, 'coding', 'general'), modeOn(false, 'writing', 'general')]).toEqual(['plan', 'write'])
})
it('keeps what is chosen for a new conversation over a reload, until that begins', async () => {
  localStorage.clear()
  usePresets().list = [aPreset('general', { is_default: true }), aPreset('research')]
  const server = startFakeServer({ 'POST /sessions': () => json({ id: 's', options: {} }, 201) })
  const before = useChosen(() => null)
  await before.pickMode('mode:research')
  await before.pickMode('mode:plan')
  before.pickTarget('host_1')
  const after = useChosen(() => null)
  expect([after.mode.value, after.preset.value, after.target.value]).toEqual(['plan', 'research', 'host_1'])
  await after.leaveMode()
  expect(useChosen(() => null).mode.value).toBe('research')
  await after.create()
  expect(server.calls.at(-1)?.body).toEqual({
    preset: 'research',
    target_id: 'host_1',
    options: { enable_plan_mode: null },
  })
  expect(useChosen(() => null).mode.value).toBeNull()
})
it('begins in the folder that is named', async () => {
  const server = startFakeServer({
    'POST /sessions': () => json({ id: 's', options: {} }, 201),
    'PUT /sessions/s/folder': () => json({ id: 's', options: {}, folder_id: 'w' }),
  })
  await useChosen(
    () => null,
    () => 'w',
  ).create()
  expect(server.calls.at(-1)).toMatchObject({ method: 'PUT', body: { folder_id: 'w' } })
})
it('begins without what is not on offer any more, and reads nothing that is not of it', async () => {
  const kept = { preset: 'gone', model: null, target: null, options: { enable_plan_mode: true } }
  localStorage.setItem('draft::new:choices', JSON.stringify(kept))
  usePresets().list = [aPreset('general', { is_default: true })]
  const server = startFakeServer({ 'POST /sessions': () => json({ id: 's', options: {} }, 201) })
  const chosen = useChosen(() => null)
  expect(chosen.mode.value).toBe('plan')
  await chosen.create()
  expect(server.calls.at(-1)?.body).toEqual({ options: { enable_plan_mode: true } })
  for (const options of [{ other: true }, { enable_plan_mode: 'yes' }, null]) {
    localStorage.setItem('draft::new:choices', JSON.stringify({ ...kept, options }))
    expect(useChosen(() => null).options.value).toEqual({})
  }
})
it('leaves a mode for what is usual, also where a person plans first by default', async () => {
  usePresets().list = [aPreset('general', { is_default: true }), aPreset('coding')]
  const server = startFakeServer({ 'PATCH /sessions/s': ({ body }) => json({ id: 's', ...(body as object) }) })
  const of = (): unknown[] => server.calls.filter(({ method }) => method === 'PATCH').map(({ body }) => body)
  const chosen = useChosen(() => 's')
  await chosen.pickMode('mode:code')
  expect(chosen.mode.value).toBe('code')
  await chosen.leaveMode()
  expect([of().at(-1), chosen.mode.value]).toEqual([{ preset: 'general', options: {} }, null])
  vi.spyOn(useUserSettings(), 'options', 'get').mockReturnValue({ enable_plan_mode: true })
  await useChosen(() => 's').leaveMode()
  expect(of().at(-1)).toEqual({ options: { enable_plan_mode: false } })
})
it('is named beside the message, and left by one press', async () => {
  const { emitted } = render(ModeChip, { props: { mode: 'plan' }, global: { plugins: [i18n] } })
  expect(screen.getByRole('status').textContent).toContain('Plan')
  await userEvent.click(screen.getByRole('button', { name: 'Leave the mode Plan' }))
  expect(emitted()['leave']).toHaveLength(1)
})
it('changes an open conversation in one step', async () => {
  const server = startFakeServer({ 'PATCH /sessions/s': ({ body }) => json({ id: 's', ...(body as object) }) })
  vi.spyOn(useSessions(), 'change')
  await useChosen(() => 's').pickMode('mode:research')
  const changes = server.calls.filter(({ method }) => method === 'PATCH').map(({ body }) => body)
  expect(changes).toEqual([{ preset: 'research', options: { enable_plan_mode: null } }])
})
it('is named apart from the preset only where the preset does not say it', () => {
  expect((['plan', 'research', 'write', 'code', null] as const).filter(isNamedApart)).toEqual(['plan'])
})
