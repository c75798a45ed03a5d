import { describe, expect, it } from 'vitest'
import { dayName, localTime, timingOf, titleOf, usualOf, whenOf, zones } from './scheduleTimes'

const NOW = new Date('2026-05-04T10:20:00Z')

describe('when a schedule is due', () => {
  it('is a usual rhythm, or a cron line of one’s own', () => {
    const lines = ['5 9 * * *', '0 17 * * 1-5', '30 23 * * 0', '30 23 * * 7']
    expect(lines.map(usualOf)).toEqual([
      { rhythm: 'daily', time: '09:05' },
      { rhythm: 'weekdays', time: '17:00' },
      { rhythm: 'weekly', time: '23:30', day: 0 },
      { rhythm: 'weekly', time: '23:30', day: 0 },
    ])
    expect(['0 9 1 * *', '*/5 * * * *', '0 25 * * *', '60 1 * * *', '0 9 * * 1,2', 'x'].map(usualOf)).toEqual(
      Array(6).fill(null),
    )
  })
  it('is told as what a form shows of it', () => {
    const of = (cron: string) => timingOf(whenOf({ at: null, cron, timezone: 'UTC' }, NOW))
    for (const cron of ['5 9 * * *', '0 17 * * 1-5', '30 23 * * 3', '*/5 8-18 1 JAN MON#1'])
      expect(of(cron)).toEqual({ cron })
    const once = whenOf({ at: '2026-07-01T07:00:00.000Z', cron: null, timezone: 'Europe/Berlin' }, NOW)
    expect(timingOf(once)).toEqual({ at: '2026-07-01T09:00' })
    expect(whenOf({ at: null, cron: null, timezone: 'Asia/Kolkata' }, NOW).at).toBe('2026-05-04T16:30')
    expect(whenOf(null, NOW).rhythm).toBe('once')
  })
  it('may be missing', () => {
    const when = whenOf(null, NOW)
    expect(timingOf({ ...when, at: '' })).toBeNull()
    expect(timingOf({ ...when, rhythm: 'daily', time: '' })).toBeNull()
    expect(timingOf({ ...when, rhythm: 'cron', cron: '  ' })).toBeNull()
  })
  it('has days in the language of the page, and zones by their names', () => {
    expect([0, 1, 6].map((day) => dayName(day, 'en'))).toEqual(['Sunday', 'Monday', 'Saturday'])
    expect(dayName(1, 'zh')).toBe('星期一')
    expect(zones('Mars/Base')).toEqual(expect.arrayContaining(['UTC', 'Europe/Berlin', 'Mars/Base']))
    expect(localTime(NOW, 'Mars/Base')).toBe('2026-05-04T10:20')
  })
  it('is called by the first line of what is said', () => {
    expect(titleOf('\n What is new?\nAnd old?')).toBe('What is new?')
    expect(titleOf('x'.repeat(100))).toHaveLength(80)
  })
})
