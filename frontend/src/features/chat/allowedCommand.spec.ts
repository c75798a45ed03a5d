// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { areRulesOpen } from './allowedCommand'
import ApprovalCard from './ApprovalCard.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const call = (command: string, safety_checks: { code: string; message: string }[] = []) => ({
  call_id: command,
  name: 'shell_exec',
  arguments: { command },
  safety_checks,
})
function show(calls: ReturnType<typeof call>[], patched = () => json({ id: 's' })) {
  const server = startFakeServer({ 'PATCH /sessions/s': patched, 'POST /sessions/s/approvals/a': () => json({}) })
  const item = { kind: 'approval' as const, key: 'a', approvalId: 'a', calls, expiresAt: null, decided: {} }
  render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
  return server
}
const ALWAYS = { name: 'Always allow this command' }

it('a command is allowed in its conversation, and then approved', async () => {
  const server = show([call('git status')])
  await userEvent.click(screen.getByRole('button', ALWAYS))
  await vi.waitFor(() => expect(server.calls).toHaveLength(2))
  expect(server.calls.map(({ method, body }) => [method, body])).toEqual([
    ['PATCH', { options: { allowed_tools: ['shell_exec(git status)'] } }],
    ['POST', { decision: 'approve' }],
  ])
})
it('nothing is approved where the rule is refused', async () => {
  const server = show([call('ls')], () => problem(422, 'invalid', 'This rule can’t be.'))
  await userEvent.click(screen.getByRole('button', ALWAYS))
  expect((await screen.findByRole('alert')).textContent).toContain('This rule can’t be.')
  expect(server.calls.map(({ method }) => method)).toEqual(['PATCH'])
})
it.each([
  ['of several', [call('ls'), call('df')]],
  ['that is too long for a rule', [call('x'.repeat(300))]],
  ['that the provider holds back', [call('ls', [{ code: 'c', message: 'Why.' }])]],
])('is not offered for a command %s', (_, calls) => {
  show(calls)
  expect(screen.queryByRole('button', ALWAYS)).toBeNull()
})
it('is told of as always allowed for as long as its rule is there, with the way to take it back', async () => {
  startFakeServer({})
  const sessions = useSessions()
  const rules = (allowed_tools: string[]) =>
    sessions.keep({ id: 's', options: { allowed_tools } } as unknown as Session)
  rules(['shell_exec(git status)'])
  const decided = { 'git status': { decision: 'approve' as const, by: 'user' as const, feedback: null } }
  const item = { kind: 'approval' as const, key: 'a', approvalId: 'a', expiresAt: null, decided }
  const props = { item: { ...item, calls: [call('git status')] }, sessionId: 's' }
  render(ApprovalCard, { props, global: { plugins: [i18n] } })
  expect(screen.getByText(/Approved, and always allowed here/)).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Rules for tools' }))
  expect(areRulesOpen.value).toBe(true)
  areRulesOpen.value = false
  rules([])
  expect(await screen.findByText('Approved')).toBeTruthy()
  expect(screen.queryByRole('button')).toBeNull()
})
