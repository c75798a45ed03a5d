// @vitest-environment happy-dom
import { render } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import { useToolPhrase } from './useToolPhrase'

function phraseOf(path: unknown): string {
  let said = ''
  const call = { name: 'file_list', arguments: { path }, phrase: 'Listing', outcome: 'succeeded' as const }
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
  ])('to the folder %s is said in words', (path, said) => expect(phraseOf(path)).toBe(said))
})
