import { countPoints, indexOfPoint } from './codepoints'

/** Text that arrives in pieces, with its length in code points so that the common append costs only the piece. */
export interface Pieces {
  readonly text: string
  readonly points: number
}

export const noPieces: Pieces = { text: '', points: 0 }

/**
 * Lays a piece at its offset. A piece seen before changes nothing, one that leaves a gap is refused (undefined),
 * and a piece at offset 0 that tells another story is the text so far and replaces what was shown.
 */
export function layPiece(shown: Pieces, offset: number, piece: string): Pieces | undefined {
  if (offset > shown.points) return undefined
  const length = countPoints(piece)
  if (offset === shown.points) return { text: shown.text + piece, points: shown.points + length }
  const start = indexOfPoint(shown.text, offset)
  if (shown.text.startsWith(piece, start)) return shown
  return { text: shown.text.slice(0, start) + piece, points: offset + length }
}

/** Keeps the end of a text that only grows, on a whole code point. */
export function keepTail(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.length - most
  const unit = text.charCodeAt(cut)
  return text.slice(unit >= 0xdc00 && unit <= 0xdfff ? cut + 1 : cut)
}
