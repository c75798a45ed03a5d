import type { FileContent } from '@/api/types'

export type PreviewKind = 'markdown' | 'html' | 'csv' | 'code' | 'image' | 'pdf' | 'binary' | 'large'
const IMAGES = /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i

export const isImage = (path: string): boolean => IMAGES.test(path)

export function kindOf(file: Pick<FileContent, 'name' | 'binary' | 'content' | 'language'>): PreviewKind {
  if (isImage(file.name)) return 'image'
  if (/\.pdf$/i.test(file.name)) return 'pdf'
  if (file.binary || file.content === null) return 'binary'
  if (/\.(md|markdown)$/i.test(file.name)) return 'markdown'
  if (/\.x?html?$/i.test(file.name)) return 'html'
  return /\.(csv|tsv)$/i.test(file.name) ? 'csv' : 'code'
}

const SEPARATORS = ['\t', ';', '|', ','] as const
const LOOKED_AT_ROWS = 10
const LOOKED_AT_CHARACTERS = 20_000

/** What parts the columns of a CSV text: outside quotes its first rows have the same number of it. */
export function separatorOf(name: string, text: string): string {
  if (/\.tsv$/i.test(name)) return '\t'
  const head = text.slice(0, LOOKED_AT_CHARACTERS)
  const parts = (separator: string): boolean => {
    const rows = parseCsv(head, separator, LOOKED_AT_ROWS + 1)
    // The last one may be cut.
    if (rows.length > LOOKED_AT_ROWS || (rows.length > 1 && head.length < text.length)) rows.pop()
    const widths = rows.filter((row) => row.join('').trim() !== '').map((row) => row.length)
    return (widths[0] ?? 0) > 1 && widths.every((width) => width === widths[0])
  }
  return SEPARATORS.find(parts) ?? ','
}

/** Rows of a CSV text: quoted fields, doubled quotes, line breaks inside quotes. */
export function parseCsv(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let isQuoted = false
  for (let index = 0; index < text.length && rows.length < most; index += 1) {
    const char = text.charAt(index)
    if (isQuoted) {
      if (char !== '"') field += char
      else if (text[index + 1] === '"') {
        field += '"'
        index += 1
      } else isQuoted = false
    } else if (char === '"' && field === '') isQuoted = true
    else if (char === separator) {
      row.push(field)
      field = ''
    } else if (char === '\n') {
      rows.push([...row, field.replace(/\r$/, '')])
      row = []
      field = ''
    } else field += char
  }
  if ((field !== '' || row.length > 0) && rows.length < most) rows.push([...row, field])
  return rows
}
