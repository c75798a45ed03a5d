// @vitest-environment happy-dom
import { render } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import { useToolPhrase } from './useToolPhrase'

type Call = Parameters<ReturnType<typeof useToolPhrase>>[0]

function phraseOf(call: Call): string {
  let said = ''
  const setup = () => {
    said = useToolPhrase()(call)
    return () => null
  }
  render({ setup }, { global: { plugins: [i18n] } })
  return said
}

describe('what a call did', () => {
  it.each([
    ['.', 'Listed the workspace'],
    ['', 'Listed the workspace'],
    [undefined, 'Listed the workspace'],
    ['notes', 'Listed notes'],
  ])('to the folder %s is said in words', (path, said) => {
    expect(phraseOf({ name: 'file_list', arguments: { path }, phrase: 'Listing', outcome: 'succeeded' })).toBe(said)
  })
  it.each([
    ['shell_exec', 'en', 'Run df'],
    ['shell_exec', 'zh', '运行 df'],
    ['unknown', 'en', 'Use unknown'],
  ] as const)('is not said to run while it waits for an approval: %s, %s', (name, locale, said) => {
    i18n.global.locale.value = locale
    const call = { name, arguments: { command: 'df' }, phrase: 'Running df', outcome: 'asking' } as const
    expect(phraseOf(call)).toBe(said)
    i18n.global.locale.value = 'en'
  })
  it.each([
    ['mcp__my_wiki__find_page', 'asking', 'en', 'Use find_page of my_wiki'],
    ['mcp__wiki__find', 'running', 'zh', '正在使用 wiki 的 find'],
    ['mcp__wiki__a__b', 'succeeded', 'en', 'Used a__b of wiki'],
  ] as const)('names a tool of an MCP server by both: %s, %s', (name, outcome, locale, said) => {
    i18n.global.locale.value = locale
    expect(phraseOf({ name, arguments: {}, phrase: 'Using find of wiki', outcome })).toBe(said)
    i18n.global.locale.value = 'en'
  })
  it.each(['description', 'title'])('names what was handed on by its %s', (name) => {
    const call = { name: 'task', arguments: { [name]: 'count' }, phrase: '', outcome: 'succeeded' } as const
    expect(phraseOf(call)).toBe('Delegated: count')
  })
})
