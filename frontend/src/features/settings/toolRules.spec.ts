// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { OptionsBody, ToolInfo } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import {
  byFamily,
  commandOf,
  commandRule,
  countRules,
  covers,
  isNamed,
  ownLists,
  ruleOf,
  rulesFor,
  withRule,
} from './toolRules'
import ToolRules from './ToolRules.vue'

afterEach(() => {
  cleanup()
  setLanguage('en')
  vi.unstubAllGlobals()
})
const tool = (name: string, read_only = false): ToolInfo => ({
  name,
  read_only,
  description: `Does ${name}.`,
  parameters: {},
  phrase: name,
  dangerous: false,
})
const tools = [tool('file_read', true), tool('file_write'), tool('file_edit'), tool('shell_exec'), tool('think', true)]

describe('rules', () => {
  it('name tools exactly or by globs, as the server reads them', () => {
    expect(['file_*', '*', 'f???_read', 'file_read'].map((rule) => isNamed('file_read', [rule]))).toEqual(
      Array(4).fill(true),
    )
    expect(['file', 'file_', '[f]ile_read', 'file.read', 'x*'].map((rule) => isNamed('file_read', [rule]))).toEqual(
      Array(5).fill(false),
    )
    expect(isNamed('a', null)).toBe(false)
    expect(['*a*b*', '?*', 'aab**'].map((rule) => isNamed('aab', [rule]))).toEqual(Array(3).fill(true))
    expect(isNamed('a'.repeat(64), [`${'*a'.repeat(60)}*b`])).toBe(false)
  })
  it('count by the strictest', () => {
    const lists = { denied_tools: ['shell_*'], asked_tools: ['*'], allowed_tools: ['file_write', 'shell_exec'] }
    expect(['shell_exec', 'file_write'].map((name) => ruleOf(name, lists))).toEqual(['denied', 'asked'])
    expect(ruleOf('x', {})).toBe('usual')
    expect(countRules(lists)).toBe(4)
  })
  it('that protect name a tool in upper or lower case', () => {
    const lists = { denied_tools: ['Shell_*'], asked_tools: ['FILE_WRITE'], allowed_tools: ['File_edit'] }
    expect(['shell_exec', 'file_write', 'file_edit'].map((name) => ruleOf(name, lists))).toEqual([
      'denied',
      'asked',
      'usual',
    ])
    expect(withRule({ denied_tools: ['FILE_*'] }, 'file_write', 'usual', tools)).toEqual({
      denied_tools: ['file_read', 'file_edit'],
    })
  })
  it('change for one tool, and leave the others of a glob as they were', () => {
    expect(withRule({}, 'shell_exec', 'denied', tools)).toEqual({ denied_tools: ['shell_exec'] })
    expect(withRule({ asked_tools: ['file_*', 'x'] }, 'file_write', 'denied', tools)).toEqual({
      denied_tools: ['file_write'],
      asked_tools: ['file_edit', 'x'],
    })
    expect(withRule({ denied_tools: ['file_*'] }, 'file_write', 'usual', tools)).toEqual({
      denied_tools: ['file_read', 'file_edit'],
    })
    expect(withRule({ asked_tools: ['file_edit'] }, 'file_edit', 'asked', tools)).toEqual({})
  })
  it('are taken back where none is left, unless the preset has some', () => {
    expect(ownLists({ denied_tools: [], asked_tools: ['a'] }, {})).toEqual({ denied_tools: null, asked_tools: ['a'] })
    expect(ownLists({ denied_tools: [] }, { denied_tools: ['a'] })).toEqual({ denied_tools: [] })
  })
  it('are offered where they act', () => {
    expect(rulesFor({ read_only: true }, true)).toEqual(['usual', 'denied'])
    expect(rulesFor({ read_only: false }, false)).toEqual(['usual', 'asked', 'denied'])
    expect(rulesFor({ read_only: false }, true)).toEqual(['usual', 'allowed', 'denied'])
  })
  it('are shown by what a tool works on', () => {
    expect(byFamily(tools).map(([family, found]) => [family, found.length])).toEqual([
      ['file', 3],
      ['shell', 1],
      ['other', 1],
    ])
  })
})
const plain = {
  open: true,
  text: 'What it may do.',
  rules: {},
  below: {},
  asksForAll: false,
  sessionId: null,
  offered: null,
  save: () => Promise.resolve(),
}
describe('ToolRules', () => {
  it('sets a rule for each tool of the conversation, one after the other', async () => {
    const saved: OptionsBody[] = []
    const server = startFakeServer({ 'GET /tools?session_id=s': () => json(tools) })
    const save = (options: OptionsBody): Promise<void> => Promise.resolve(void saved.push(options))
    const props = { ...plain, sessionId: 's', rules: { denied_tools: ['think'] }, save }
    render(ToolRules, { props, global: { plugins: [i18n] } })
    const rule = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Rule for think' })
    expect(rule.value).toBe('denied')
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Rule for shell_exec' }), 'Never')
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Rule for file_write' }), 'Ask first')
    await userEvent.selectOptions(rule, 'As usual')
    expect(saved).toEqual([
      { denied_tools: ['think', 'shell_exec'] },
      { asked_tools: ['file_write'] },
      { denied_tools: ['shell_exec'] },
    ])
    expect(server.calls).toHaveLength(1)
  })
  it('says what each tool does in the language of the page, and of an unknown one what it says of itself', async () => {
    startFakeServer({ 'GET /tools': () => json([tool('file_edit'), tool('mcp__notes__add'), tool('constructor')]) })
    setLanguage('zh')
    render(ToolRules, { props: plain, global: { plugins: [i18n] } })
    expect(await screen.findByText('修改文件中的一段内容')).toBeTruthy()
    expect(screen.queryByText('Does file_edit.')).toBeNull()
    for (const name of ['mcp__notes__add', 'constructor'])
      expect(screen.getByText(`Does ${name}.`).getAttribute('lang')).toBe('en')
  })
  it('offers those of MCP servers by themselves, and all of one that can’t be asked, with the reason', async () => {
    const away: ToolInfo = {
      ...tool('mcp__notes__*'),
      server: 'notes',
      error: 'It did not answer within 5 seconds.',
      code: 'mcp_timed_out',
    }
    startFakeServer({ 'GET /tools': () => json([{ ...tool('mcp__wiki__get'), server: 'wiki' }, away, tool('think')]) })
    const saved: OptionsBody[] = []
    const save = (options: OptionsBody): Promise<void> => Promise.resolve(void saved.push(options))
    render(ToolRules, { props: { ...plain, save }, global: { plugins: [i18n] } })
    expect(await screen.findByRole('heading', { name: 'MCP servers' })).toBeTruthy()
    expect(screen.getByText(/All tools of notes.*within 5 seconds/)).toBeTruthy()
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Rule for mcp__notes__*' }), 'Never')
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Rule for mcp__wiki__get' }), 'Ask first')
    expect(saved).toEqual([{ denied_tools: ['mcp__notes__*'] }, { asked_tools: ['mcp__wiki__get'] }])
  })
  it('loses none that are chosen while others are on their way', async () => {
    startFakeServer({ 'GET /tools': () => json(tools) })
    const saved: OptionsBody[] = []
    let arrive = (): void => undefined
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const save = async (rules: OptionsBody): Promise<void> => {
      await arrived
      saved.push(rules)
    }
    const { rerender } = render(ToolRules, { props: { ...plain, save }, global: { plugins: [i18n] } })
    await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Rule for think' }), 'Never')
    await rerender({ rules: { denied_tools: [] } })
    await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Rule for shell_exec' }), 'Never')
    arrive()
    await expect.poll(() => saved).toEqual([{ denied_tools: ['think'] }, { denied_tools: ['think', 'shell_exec'] }])
  })
  it('says what went wrong and shows what holds', async () => {
    startFakeServer({ 'GET /tools': () => json(tools) })
    const save = (): Promise<void> => Promise.reject(new Error('no'))
    const rules = { asked_tools: ['file_edit'] }
    const props = { ...plain, offered: ['file_*'], rules, below: rules, save }
    render(ToolRules, { props, global: { plugins: [i18n] } })
    const rule = await screen.findByRole<HTMLSelectElement>('combobox', { name: 'Rule for file_edit' })
    expect(screen.queryByRole('combobox', { name: 'Rule for shell_exec' })).toBeNull()
    await userEvent.selectOptions(rule, 'Never')
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(rule.value).toBe('asked')
  })
  it('says that the tools could not be had', async () => {
    startFakeServer({ 'GET /tools': () => problem(503, 'unavailable', 'Not now.') })
    render(ToolRules, { props: plain, global: { plugins: [i18n] } })
    expect(await screen.findByRole('alert')).toBeTruthy()
  })
})

describe('rules of single commands', () => {
  it('are made of calls that have a command, if it is not too long', () => {
    expect(commandRule('shell_exec', { command: 'ls -la', shell: 'main' })).toBe('shell_exec(ls -la)')
    expect(commandRule('file_write', { path: 'a' })).toBeNull()
    expect(commandRule('shell_exec', { command: 'x'.repeat(200) })).toBeNull()
    expect(commandOf('shell_exec(echo (a))')).toEqual({ tool: 'shell_exec', command: 'echo (a)' })
    expect(commandOf('shell_*')).toBeNull()
  })
  it('are covered by a rule of their tool, and by no other command', () => {
    expect(covers(['shell_*'], 'shell_exec(ls)')).toBe(true)
    expect(covers(['shell_exec(*)'], 'shell_exec(ls)')).toBe(false)
  })
})
