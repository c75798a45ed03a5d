import type { OpenPort, WireEvent } from '@/api/types'
import { allSeen } from '@/shared/lib/unseen'

export const FIRST_PORT = 1024
export const LAST_PORT = 65_535

/** The open ports after one more event; the newest one is the last. */
export function withPort(ports: readonly OpenPort[], event: WireEvent): readonly OpenPort[] {
  if (event.type !== 'port.opened' && event.type !== 'port.closed') return ports
  const others = ports.filter(({ id }) => id !== event.port_id)
  if (event.type === 'port.closed') return others
  const { port_id: id, port, label, opened_by, at: opened_at } = event
  return [...others, { id, port, label, opened_at, opened_by }]
}

/** What is written in a field as a port that may be opened; null where it is none. */
export function portOf(text: string): number | null {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port >= FIRST_PORT && port <= LAST_PORT ? port : null
}

/** What a port is called: a name somebody gave it, with every character of it, or '' where it has none. */
export function nameOf({ label }: Pick<OpenPort, 'label'>): string {
  return allSeen(label.trim())
}
