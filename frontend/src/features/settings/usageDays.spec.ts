import { expect, it } from 'vitest'
import type { SpentRow } from '@/api/types'
import { usageDays } from './usageDays'

const row = (day: string, input: number, output: number) => ({ day, input, output }) as SpentRow

it('has every day, oldest first, and nothing on a day without a row', () => {
  const now = new Date(2026, 2, 2, 13)
  const found = usageDays([row('2026-03-02', 5, 1), row('2026-02-28', 7, 2)], 4, now)
  expect(found.input).toEqual([0, 7, 0, 5])
  expect(found.output).toEqual([0, 2, 0, 1])
  expect(found.days.map((day) => new Date(day * 1000).getDate())).toEqual([27, 28, 1, 2])
})
