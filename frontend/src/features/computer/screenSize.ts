/** Beyond this many pixels to one of the page what is written over there gets too small to read. */
const DENSEST = 1.4
const SET_DESKTOP_SIZE = 251

export interface Size {
  readonly width: number
  readonly height: number
}

/** How many pixels the desktop is to have where it is shown in a box of the page: one each, as far as text stays readable. */
export function sizeFor(box: Size, pixelRatio: number): Size | null {
  if (box.width < 1 || box.height < 1) return null
  const density = Math.min(Math.max(1, pixelRatio), DENSEST)
  return { width: Math.round(box.width * density), height: Math.round(box.height * density) }
}

/** The message of RFB that asks for a size of the desktop, with one screen. The viewer asks for none as long as it may not control. */
export function sizeMessage({ width, height }: Size): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(24)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, SET_DESKTOP_SIZE)
  view.setUint16(2, width)
  view.setUint16(4, height)
  view.setUint8(6, 1)
  view.setUint16(16, width)
  view.setUint16(18, height)
  return bytes
}
