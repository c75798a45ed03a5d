// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import TeamMessageCard from './TeamMessageCard.vue'
import TeammateLine from './TeammateLine.vue'
import type { TeamItem, Teammate } from './transcript'

const told: TeamItem = {
  kind: 'team',
  key: 'team:1',
  sender: 'amy',
  recipients: ['lead', 'bob'],
  content: 'It is dug.\n\nAll of it.',
  msgType: 'message',
  approve: null,
}
const show = (item: Partial<TeamItem>) =>
  render(TeamMessageCard, { props: { item: { ...told, ...item } }, global: { plugins: [i18n] } })

afterEach(() => {
  cleanup()
  i18n.global.locale.value = 'en'
})

describe('a message of a team', () => {
  it('says who wrote to whom and how it begins, and is whole once it is opened', async () => {
    show({})
    const button = screen.getByRole('button', { name: /amy to the agent, bob/ })
    expect(button.textContent).toContain('It is dug.')
    expect(screen.queryByText('All of it.')).toBeNull()
    await userEvent.click(button)
    expect(screen.getByText('All of it.')).toBeTruthy()
  })

  it('begins with its words, without the signs that set them', () => {
    show({ content: '## Amy *digs*\n\nStay.' })
    expect(screen.getByRole('button').textContent).toContain('Amy digs')
    expect(screen.getByRole('button').textContent).not.toMatch(/[#*]|Stay/)
  })

  it.each([
    ['plan_review', true, 'lead approved the plan of amy'],
    ['plan_review', false, 'lead rejected the plan of amy'],
  ] as const)('says how %s ended', (msgType, approve, said) => {
    show({ msgType, approve, sender: 'lead', recipients: ['amy'] })
    expect(screen.getByRole('button').textContent).toContain(said.replace('lead', 'The agent'))
  })

  it('has its words in Chinese', () => {
    i18n.global.locale.value = 'zh'
    show({ msgType: 'shutdown_request', sender: 'lead', recipients: ['amy'] })
    expect(screen.getByRole('button').textContent).toContain('智能体 请 amy 离开')
  })
})

describe('a teammate', () => {
  it.each([
    ['working', null, 'Working'],
    ['idle', null, 'Idle'],
    ['left', 'failed', 'Could not go on'],
    ['left', 'run_ended', 'Finished'],
    ['left', null, 'Left'],
  ] as const)('that is %s (%s) says so', (status, reason, said) => {
    const teammate: Teammate = { name: 'amy', role: 'digs', status, reason }
    render(TeammateLine, { props: { teammate }, global: { plugins: [i18n] } })
    expect(screen.getByText(said)).toBeTruthy()
  })
})
