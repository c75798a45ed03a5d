type Listener = (frame: { readonly session_id: string }) => void
const listeners = new Set<Listener>()

/** Each event as the stream brought it, for who looks at the events themselves; returns the way out. */
export function onFrame(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function passFrame(frame: { readonly session_id: string }): void {
  for (const listener of listeners) listener(frame)
}
