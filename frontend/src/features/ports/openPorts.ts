import type { OpenPort, WireEvent } from '@/api/types'
import { showInvisible } from '@/shared/lib/invisibleCharacters'

export const FIRST_PORT = 1024
export const LAST_PORT = 65_535

/**
 * The open ports after one more event; the newest one is the last. What changed is told first and then all that is open:
 * an older log has no more than the change.
 */
export function withPort(ports: readonly OpenPort[], event: WireEvent): readonly OpenPort[] {
  switch (event.type) {
    case 'port.opened': {
      const { port_id: id, port, label, opened_by, at: opened_at } = event
      return [...without(ports, id), { id, port, label, opened_at, opened_by }]
    }
    case 'port.closed':
      return without(ports, event.port_id)
    case 'resources.updated':
      // What else belongs to the conversation is shown elsewhere.
      return event.resources.filter((one) => one.kind === 'port')
    default:
      return ports
  }
}

/** What is written in a field as a port that may be opened; null where it is none. */
export function portOf(text: string): number | null {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port >= FIRST_PORT && port <= LAST_PORT ? port : null
}

/** What a port is called: a name somebody gave it, with every character of it, or '' where it has none. */
export function nameOf({ label }: Pick<OpenPort, 'label'>): string {
  return showInvisible(label.trim())
}

function without(ports: readonly OpenPort[], closed: string): readonly OpenPort[] {
  return ports.filter(({ id }) => id !== closed)
}
