import type { SpentRow } from '@/api/types'
import { dayBefore } from './useUsage'

/** Days and tokens as a chart takes them: one value a day, oldest first. Days in seconds since 1970, here. */
export interface UsageDays {
  readonly days: number[]
  readonly input: number[]
  readonly output: number[]
}

/** Every day of the last `count` days; one that is in no row had nothing. */
export function usageDays(rows: readonly SpentRow[], count: number, now = new Date()): UsageDays {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const [days, input, output]: [number[], number[], number[]] = [[], [], []]
  for (let before = count - 1; before >= 0; before -= 1) {
    const day = dayBefore(before, now)
    days.push(new Date(`${day}T00:00:00`).getTime() / 1000)
    input.push(byDay.get(day)?.input ?? 0)
    output.push(byDay.get(day)?.output ?? 0)
  }
  return { days, input, output }
}
