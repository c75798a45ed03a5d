import type { Schedule } from '@/api/types'

/** How often: once, by one of the usual rhythms, or by a cron line of one's own. */
export type Rhythm = 'once' | 'daily' | 'weekdays' | 'weekly' | 'cron'
export interface When {
  readonly rhythm: Rhythm
  /** Of once: a time of the zone, as a field of a form has it. */
  readonly at: string
  /** Hours and minutes, of the usual rhythms. */
  readonly time: string
  /** Of weekly: 0 is Sunday. */
  readonly day: number
  readonly cron: string
}
export type Timing = { at: string } | { cron: string }

const USUAL = /^(\d{1,2}) (\d{1,2}) \* \* (\*|1-5|[0-7])$/
const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

/** Those the browser knows, with these beside. */
export function zones(...more: readonly string[]): string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', ...more])].sort()
}

/** A moment as the clocks of a zone show it: 2030-12-31T09:00. Where the browser knows no such zone, of UTC. */
export function localTime(at: Date, zone: string): string {
  try {
    // This language writes the date as ISO 8601 has it.
    return new Intl.DateTimeFormat('sv', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    })
      .format(at)
      .replace(' ', 'T')
  } catch {
    return at.toISOString().slice(0, 16)
  }
}

/** What a form shows of a schedule; of a new one, the next full hour. */
export function whenOf(schedule: Pick<Schedule, 'at' | 'cron' | 'timezone'> | null, now: Date): When {
  const hour = new Date(Math.floor(now.getTime() / 3_600_000 + 1) * 3_600_000)
  const fresh: When = {
    rhythm: 'once',
    at: localTime(hour, schedule?.timezone ?? ownZone()),
    time: '09:00',
    day: 1,
    cron: '0 9 * * 1-5',
  }
  if (!schedule) return fresh
  if (schedule.at !== null) return { ...fresh, at: localTime(new Date(schedule.at), schedule.timezone) }
  const cron = schedule.cron ?? ''
  const usual = usualOf(cron)
  return { ...fresh, rhythm: 'cron', ...usual, cron }
}

/** The usual rhythm that a line stands for, if it does. */
export function usualOf(cron: string): Pick<When, 'rhythm' | 'time'> | Pick<When, 'rhythm' | 'time' | 'day'> | null {
  const found = USUAL.exec(cron)
  if (!found) return null
  const [, minute = '', hour = '', days = ''] = found
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`
  if (!CLOCK.test(time)) return null
  if (days === '*') return { rhythm: 'daily', time }
  if (days === '1-5') return { rhythm: 'weekdays', time }
  return { rhythm: 'weekly', time, day: Number(days) % 7 }
}

/** What the server is told; null where something is missing. */
export function timingOf(when: When): Timing | null {
  if (when.rhythm === 'once') return LOCAL.test(when.at) ? { at: when.at.slice(0, 16) } : null
  if (when.rhythm === 'cron') return when.cron.trim() ? { cron: when.cron.trim() } : null
  if (!CLOCK.test(when.time)) return null
  const [hour, minute] = when.time.split(':').map(Number)
  const days = { daily: '*', weekdays: '1-5', weekly: String(when.day) }[when.rhythm]
  return { cron: `${minute} ${hour} * * ${days}` }
}

/** The name of a day of the week, 0 for Sunday. */
export function dayName(day: number, language: string): string {
  // The first of this month was a Sunday.
  return new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2023, 0, 1 + day))
}

/** The first line of what is said, short. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}
