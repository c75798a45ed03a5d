/** Offsets on the wire count Unicode code points; strings here count UTF-16 units. A low surrogate adds no point. */
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

export function countPoints(text: string): number {
  let points = 0
  for (let index = 0; index < text.length; index += 1) if (!isLowSurrogate(text.charCodeAt(index))) points += 1
  return points
}

/** The UTF-16 index at which code point number `point` starts; the text's length when there are fewer. */
export function indexOfPoint(text: string, point: number): number {
  let seen = 0
  for (let index = 0; index < text.length; index += 1) {
    if (isLowSurrogate(text.charCodeAt(index))) continue
    if (seen === point) return index
    seen += 1
  }
  return text.length
}
