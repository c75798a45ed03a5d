// @vitest-environment happy-dom
import { beforeEach, expect, it } from 'vitest'
import { hadComputer, knowComputer } from './knownComputers'

beforeEach(() => localStorage.clear())

it('knows which conversations had a computer, the last ones first', () => {
  expect(hadComputer('a')).toBe(false)
  knowComputer('a', true)
  knowComputer('b', true)
  expect([hadComputer('a'), hadComputer('b')]).toEqual([true, true])
  knowComputer('a', false)
  expect([hadComputer('a'), hadComputer('b')]).toEqual([false, true])
  for (let number = 0; number < 200; number += 1) knowComputer(`s${number}`, true)
  expect([hadComputer('b'), hadComputer('s199')]).toEqual([false, true])
})
it('knows nothing where something else is kept', () => {
  localStorage.setItem('computers', '{"a":1}')
  expect(hadComputer('a')).toBe(false)
})
