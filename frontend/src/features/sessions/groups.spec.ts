import { describe, expect, it } from 'vitest'
import { grouped, periodOf } from './groups'
import { knownFrom, type KnownSession } from './known'

const now = new Date(2026, 10, 28, 15, 0)
const at = (day: number, hour: number): string => new Date(2026, 10, day, hour).toISOString()
function session(id: string, fields: Partial<KnownSession> = {}): KnownSession {
  const times = { created_at: at(28, 9), updated_at: at(28, 9), active_at: at(28, 9) }
  const plain = { status: 'idle' as const, model: null, preset: null, options: {}, pinned: false, archived: false }
  const rest = { folder_id: null, last_seq: 0, read_seq: 0, unread: 0, failed: false, sandbox: null }
  return knownFrom({ id, title: id, ...plain, ...rest, ...times, ...fields })
}
const work = { id: 'w', name: 'Work', instructions: '', created_at: at(1, 1) }
const shown = (groups: ReturnType<typeof grouped>): string[] =>
  groups.map((one) => `${one.kind}: ${one.sessions.map(({ id }) => id).join(' ')}`)

describe('the parts of the list', () => {
  it('are days of whoever looks, not hours', () => {
    expect(periodOf(at(28, 0), now)).toBe('today')
    expect(periodOf(at(27, 23), now)).toBe('yesterday')
    expect(periodOf(at(27, 0), now)).toBe('yesterday')
    expect(periodOf(at(26, 23), now)).toBe('week')
    expect(periodOf(at(22, 1), now)).toBe('week')
    expect(periodOf(at(21, 23), now)).toBe('older')
  })
  it('begin with what waits for the person, wherever that is kept, and have each conversation once', () => {
    const list = [
      session('a'),
      session('b', { status: 'waiting', folder_id: 'w', pinned: true }),
      session('c', { folder_id: 'w' }),
      session('d', { pinned: true, folder_id: 'w' }),
      session('e', { active_at: at(2, 9) }),
      session('f', { archived: true, status: 'waiting' }),
    ]
    expect(shown(grouped(list, [work], now, false))).toEqual([
      'waiting: b',
      'pinned: d',
      'folder: c',
      'today: a',
      'older: e',
    ])
    expect(shown(grouped(list, [work], now, true)).at(-1)).toBe('archived: f')
  })
  it('show an empty folder, and a conversation whose folder is gone by its day', () => {
    expect(shown(grouped([session('a', { folder_id: 'gone' })], [work], now, false))).toEqual(['folder: ', 'today: a'])
  })
})
