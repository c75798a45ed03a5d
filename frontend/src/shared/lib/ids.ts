/** A random id. `crypto.randomUUID` needs a secure context, which a machine on the local network may lack. */
export function createId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
