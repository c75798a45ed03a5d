import { expect, it } from 'vitest'
import { circlesIn } from './folders.mjs'

const circles = (sources: Record<string, string[]>): string[] => circlesIn(new Map(Object.entries(sources)))

it('names the imports that make two folders need each other, also by way of a third', () => {
  expect(
    circles({
      'a/one.ts': ['b/one.ts'],
      'b/two.ts': ['c/deep/one.ts'],
      'c/one.ts': ['a/two.ts'],
      'd/one.ts': ['a/one.ts'],
    }),
  ).toEqual([
    'src/: a (a/one.ts imports b/one.ts) -> b (b/two.ts imports c/deep/one.ts) -> c (c/one.ts imports a/two.ts) -> a',
  ])
})
it('counts the files beside a folder as one', () => {
  expect(circles({ 'a/one.ts': ['a/views/one.ts'], 'a/views/one.ts': ['a/two.ts'] })).toHaveLength(1)
  expect(circles({ 'a/one.ts': ['a/views/one.ts'], 'a/views/one.ts': ['a/parts/one.ts'] })).toEqual([])
  expect(circles({ 'a/one.ts': ['a/two.ts'], 'a/two.ts': ['a/one.ts'] })).toEqual([])
})
