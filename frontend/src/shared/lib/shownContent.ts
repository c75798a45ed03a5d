/** What an agent made may be shown as: decided here by its first bytes, whatever type it was served as. */

const HEAD_BYTES = 16
const LARGEST_SVG_BYTES = 4 * 1024 * 1024

const marks: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
  ['image/avif', /^[\s\S]{4}ftypavi[fs]/],
  ['image/bmp', /^BM/],
  ['image/x-icon', /^\0\0\x01\0/],
  ['application/pdf', /^%PDF-/],
]

/** A raster image or PDF by its first bytes; null for anything else. */
export function typeOf(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head.subarray(0, HEAD_BYTES))
  return marks.find(([, mark]) => mark.test(text))?.[0] ?? null
}

/** The same bytes as a raster image or PDF, null where they are neither. No script of theirs can run as such. */
export async function shown(bytes: Blob): Promise<Blob | null> {
  const type = typeOf(new Uint8Array(await bytes.slice(0, HEAD_BYTES).arrayBuffer()))
  return type === null ? null : new Blob([bytes], { type })
}

/** The same bytes as something that is only ever saved. */
export function saved(bytes: Blob): Blob {
  return new Blob([bytes], { type: 'application/octet-stream' })
}

/**
 * An address for an `<img>`, null where it is no picture. An SVG comes as a data: address: opened on its own, as a
 * blob: one could be, it would run its scripts in this page's origin.
 */
export async function pictureUrl(bytes: Blob, name: string): Promise<string | null> {
  const picture = await shown(bytes)
  if (picture?.type.startsWith('image/')) return URL.createObjectURL(picture)
  if (picture !== null || !/\.svg$/i.test(name) || bytes.size > LARGEST_SVG_BYTES) return null
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(await bytes.text())}`
}

/** An address for a frame, null where it is no PDF. */
export async function pdfUrl(bytes: Blob): Promise<string | null> {
  const document = await shown(bytes)
  return document?.type === 'application/pdf' ? URL.createObjectURL(document) : null
}
