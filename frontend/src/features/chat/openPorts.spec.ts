import { expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import { emptyTranscript } from './transcript'

const told = (seq: number, type: WireEvent['type'], fields: object = {}): WireEvent =>
  ({ type, seq, at: '2026-01-01T00:00:00Z', session_id: 's', run_id: null, ...fields }) as WireEvent

it('a conversation tells which ports are open, whatever else happens', () => {
  const port = { port_id: 'p', port: 3000 }
  const opened = reduce(emptyTranscript, told(1, 'port.opened', { ...port, label: 'Shop', opened_by: 'agent' }))
  expect(opened.ports).toMatchObject([{ id: 'p', port: 3000, label: 'Shop' }])
  expect(reduce(opened, told(2, 'files.changed')).ports).toBe(opened.ports)
  expect(reduce(opened, told(2, 'port.closed', port)).ports).toEqual([])
  const whole = told(2, 'resources.updated', { resources: [{ kind: 'port', id: 'q', port: 4000 }] })
  expect(reduce(opened, whole).ports).toMatchObject([{ id: 'q', port: 4000 }])
  expect(reduce(opened, whole).items).toBe(opened.items)
})
