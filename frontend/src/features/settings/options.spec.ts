import { describe, expect, it } from 'vitest'
import { defaultsOf, turnsWritten } from './options'

describe('what holds where a conversation chooses nothing', () => {
  it('is protected as the person wants it, whatever the preset lifts', () => {
    const own = { enable_approval: true, denied_tools: ['a'], asked_tools: ['b'], max_turns: 9 }
    const preset = { enable_approval: false, denied_tools: [], allowed_tools: ['*'], max_turns: 3 }
    expect(defaultsOf(own, preset)).toEqual({ ...own, allowed_tools: [], max_turns: 3 })
  })

  it('is protected as the preset has it where the person wants less', () => {
    const preset = { enable_approval: true, enable_plan_mode: true, denied_tools: ['a'], allowed_tools: ['b'] }
    expect(defaultsOf({ denied_tools: ['c'], allowed_tools: ['*'] }, preset)).toEqual({
      ...preset,
      denied_tools: ['c', 'a'],
    })
    expect(defaultsOf({}, {})).toEqual({})
  })

  it('lets run without approval what all allow who ask for it', () => {
    const asks = (...allowed_tools: string[]) => ({ enable_approval: true, allowed_tools })
    expect(defaultsOf(asks('a', 'b*'), asks('a*', 'b_c', 'd'))).toEqual(asks('a', 'b_c'))
    expect(defaultsOf(asks('ab'), asks('a?'))).toEqual(asks())
  })
})

it('reads a number of steps', () => {
  const read = ['', '7', '0', '501', '1.5', 'x'].map(turnsWritten)
  expect(read).toEqual([null, 7, undefined, undefined, undefined, undefined])
})
