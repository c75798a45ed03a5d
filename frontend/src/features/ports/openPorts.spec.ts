import { describe, expect, it } from 'vitest'
import type { OpenPort, WireEvent } from '@/api/types'
import { nameOf, portOf, withPort } from './openPorts'

const envelope = { session_id: 's', run_id: null }
const opened: WireEvent = {
  ...envelope,
  seq: 1,
  type: 'port.opened',
  at: '2026-01-01T00:00:00Z',
  port_id: 'port_1',
  port: 3000,
  label: 'Shop',
  opened_by: 'agent',
}
const closed: WireEvent = { ...envelope, type: 'port.closed', seq: 2, at: opened.at, port_id: 'port_1', port: 3000 }
const whole = (seq: number, ...resources: object[]): WireEvent =>
  ({ ...envelope, seq, type: 'resources.updated', at: opened.at, resources }) as WireEvent
const after = (...events: WireEvent[]) => events.reduce<readonly OpenPort[]>(withPort, [])

describe('open ports', () => {
  it('are there from their opening to their closing, and once', () => {
    const shop = { id: 'port_1', port: 3000, label: 'Shop', opened_at: opened.at, opened_by: 'agent' }
    expect(after(opened)).toEqual([shop])
    expect(after(opened, opened)).toEqual([shop])
    const other = { ...opened, port_id: 'port_2', port: 3001 }
    expect(after(opened, other, closed)).toMatchObject([{ id: 'port_2', port: 3001 }])
  })

  it('are what was last told as a whole, and what changed since', () => {
    const shop = { kind: 'port', id: 'port_1', port: 3000, label: 'Shop', opened_at: '2026-01-01T00:00:00.100Z' }
    const told = { ...shop, opened_by: 'agent' }
    const game = { ...told, id: 'port_2', port: 4000 }
    expect(after(opened, whole(2, game, told))).toEqual([game, told])
    expect(after(whole(1, game, told), { ...closed, seq: 2 })).toEqual([game])
    expect(after(whole(1, game), { ...opened, seq: 2 })).toMatchObject([{ id: 'port_2' }, { id: 'port_1' }])
    expect(after(opened, whole(2))).toEqual([])
  })

  it('are all that a newer server tells of, of its other kinds nothing', () => {
    expect(after(opened, whole(2, { kind: 'paper', id: 'p' }))).toEqual([])
  })

  it.each([
    ['3000', 3000],
    [' 1024 ', 1024],
    ['65535', 65_535],
    ['65536', null],
    ['1023', null],
    ['', null],
    ['3000.5', null],
    ['-3000', null],
    ['0x1000', null],
    ['1e4', null],
  ])('%j as a number of one is %j', (text, port) => expect(portOf(text)).toBe(port))

  it('are named with every character of their name', () => {
    expect(nameOf({ label: ' a\u202Eb ' })).toBe('a⟨U+202E⟩b')
    expect(nameOf({ label: '' })).toBe('')
  })
})
