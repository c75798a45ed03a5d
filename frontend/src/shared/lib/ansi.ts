const ESCAPE = '\u001b'
const UNSEEN =
  /\u001b\[[0-9;:]*m|\u001b[\]P_^X][^\u0007\u0018\u001a\u001b\n]*(?:\u001b\\|[\u0007\u0018\u001a]|(?=[\n\u001b])|$)|\u001b[ -/]+[0-~]|\u001b\[[0-?]*[ -/]+[@-~]|\u001b(?:\[[0-?]*)?[ -/]*$|\u0007/g
const TOKEN = /[^\b\n\r\u001b]+|\n|\r+|\u0008+|\u001b\[([<=>?]?)([0-?]*)([@-~])|\u001b([0-~])|\u001b/g
/** The East Asian Wide ones; of emoji all but the letters of flags. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u3247\u3250-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2fb}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}/u
const MARK = /^(?!\u00ad)[\p{Mn}\p{Me}\p{Cc}\p{Cf}]$/u
const ROWS = 40
const COLUMNS = 160
const TAB = 8
/** Columns of a line that can still be written over; what was written in order may have any number. */
const MOST_EDITED = 4000
/** Lines the cursor may go back to. */
const LIVE_LINES = 1000

/** A line nobody wrote over is kept as it came; its width is counted once for each character. */
interface Line {
  text: string
  width: number
  cells: string[] | null
}

/** Text from a program as a terminal would leave it: no colours, and progress drawn again and again as it ended. */
export function plainOutput(text: string): string {
  if (!text.includes('\r') && !text.includes(ESCAPE) && !text.includes('\b') && !text.includes('\u0007')) return text
  const clean = text.replace(UNSEEN, '').replace(/\r+\n?/g, (run) => (run.endsWith('\n') ? '\n' : '\r'))
  if (!clean.includes('\r') && !clean.includes(ESCAPE) && !clean.includes('\b')) return clean
  const terminal = new Terminal()
  for (const token of clean.matchAll(TOKEN)) terminal.take(token)
  return terminal.text()
}

/**
 * The lines of a terminal of any width with its cursor. Of a long line the cursor reaches no more than the end, and
 * nothing above it, which is in `gone`: so no sequence costs more than that, whatever was written before it.
 */
class Terminal {
  private gone: string[] = []
  private lines: Line[] = [emptyLine()]
  private row = 0
  private column = 0
  private top = 0
  private saved: [number, number] = [0, 0]
  private behind: Terminal | null = null
  /** What was written last, to be repeated. */
  private last = ''

  text(): string {
    const shown = this.lines.map(shownLine)
    while (shown.length - 1 > this.row && shown.at(-1) === '') shown.pop()
    const before = this.behind?.text() ?? ''
    return before + (before && !before.endsWith('\n') ? '\n' : '') + this.gone.join('') + shown.join('\n')
  }

  take(token: RegExpMatchArray): void {
    const [whole, mode = '', given = '', final, escape] = token
    if (whole === '\n') this.feedLine()
    else if (whole.startsWith('\r')) this.column = 0
    else if (whole.startsWith('\b')) this.column = Math.max(0, this.column - whole.length)
    else if (final !== undefined && mode) this.setMode(mode + final, given)
    else if (final !== undefined) this.control(given, final)
    else if (escape === '7') this.saved = [this.row - this.top, this.column]
    else if (escape === '8') this.place(...this.saved)
    else if (escape === 'M') this.feedLineBack()
    else if (!whole.startsWith(ESCAPE)) this.write(whole)
    if (!/^[\r\b\u001b]/.test(whole)) this.last = [...whole.slice(-2)].at(-1) ?? ''
  }

  private control(given: string, final: string): void {
    const [first = '', second = ''] = given.split(';')
    const number = Math.min(Number.parseInt(first, 10) || 0, 9999)
    const count = Math.max(number, 1)
    const lowest = Math.max(this.top + ROWS - 1, this.row)
    if ('AF'.includes(final)) this.row = Math.max(0, this.row - count)
    if ('BEe'.includes(final)) this.row = Math.min(this.row + count, lowest)
    if ('EF'.includes(final)) this.column = 0
    if ('Ca'.includes(final)) this.column = Math.min(this.column + count, Math.max(this.column, COLUMNS - 1))
    if (final === 'D') this.column = Math.max(0, this.column - count)
    if ('G`'.includes(final)) this.column = count - 1
    if (final === 'd') this.place(count - 1, this.column)
    if ('Hf'.includes(final)) this.place(count - 1, Math.max(Number.parseInt(second, 10) || 1, 1) - 1)
    if (final === 's') this.saved = [this.row - this.top, this.column]
    if (final === 'u') this.place(...this.saved)
    if (final === 'K') this.eraseLine(number)
    if (final === 'J') this.eraseScreen(number)
    if (final === 'P') this.cells().splice(this.column, count)
    if (final === 'X') this.cells().fill(' ', this.column, this.column + count)
    if (final === 'b' && !['', '\n', '\t'].includes(this.last)) this.repeat(first === '' ? 1 : number)
    if (final === '@') this.insertCharacters(Math.min(count, COLUMNS))
    this.column = Math.min(this.column, Math.max(this.lineWidth(), COLUMNS - 1))
  }

  private setMode(mode: string, given: string): void {
    if (!['47', '1047', '1049'].some((number) => given.split(';').includes(number))) return
    if (mode === '?h' && !this.behind) {
      const behind = Object.assign(new Terminal(), this)
      Object.assign(this, new Terminal(), { behind, last: this.last })
    } else if (mode === '?l' && this.behind) Object.assign(this, this.behind, { last: this.last })
  }

  private place(row: number, column: number): void {
    this.row = this.top + Math.min(Math.max(row, 0), ROWS - 1)
    this.column = Math.min(column, COLUMNS - 1)
  }

  private feedLine(): void {
    this.row += 1
    this.column = 0
    this.reach()
  }

  /** A row up; at the top of the screen, all go down. */
  private feedLineBack(): void {
    if (this.row === this.top) {
      this.reach()
      this.lines.splice(this.row, 0, emptyLine())
      this.lines.splice(this.top + ROWS, 1)
    } else this.row = Math.max(0, this.row - 1)
  }

  private repeat(count: number): void {
    if (count > 0) this.write(this.last.repeat(Math.min(count, COLUMNS)))
  }

  private reach(): void {
    while (this.lines.length <= this.row) this.lines.push(emptyLine())
    this.top = Math.max(this.top, this.lines.length - ROWS)
    if (this.lines.length > 2 * LIVE_LINES) this.drop(this.lines.length - LIVE_LINES)
  }

  /** The first lines, above the cursor's, can't change any more. */
  private drop(count: number): void {
    for (const line of this.lines.splice(0, count)) this.gone.push(shownLine(line), '\n')
    this.row -= count
    this.top = Math.max(0, this.top - count)
  }

  private line(): Line {
    this.reach()
    return this.lines[this.row] ?? emptyLine()
  }

  private lineWidth(): number {
    const line = this.lines[this.row]
    return line?.cells?.length ?? line?.width ?? 0
  }

  private write(text: string): void {
    const line = this.line()
    if (!line.cells && this.column === line.width) {
      line.text += text
      line.width = this.column = columnAfter(line.width, text)
    } else this.column = writeCells(this.cells(), this.column, text)
    if (this.lineWidth() > MOST_EDITED) this.takeHead(line)
  }

  /** All but the end of the cursor's line can't change any more, and what is above it. */
  private takeHead(line: Line): void {
    this.drop(this.row)
    const width = this.lineWidth()
    if (line.cells) {
      let at = Math.max(0, line.cells.length - MOST_EDITED / 2)
      while (at > 0 && line.cells[at] === '') at -= 1
      this.gone.push(line.cells.splice(0, at).join(''))
    } else {
      let at = Math.max(0, line.text.length - MOST_EDITED / 2)
      if (/^[\udc00-\udfff]/.test(line.text.slice(at, at + 1))) at += 1
      this.gone.push(line.text.slice(0, at))
      line.text = line.text.slice(at)
      line.width = columnAfter(0, line.text)
    }
    this.column = Math.max(0, this.column - width + this.lineWidth())
  }

  private cells(): string[] {
    const line = this.line()
    if (line.cells) return line.cells
    const cells: string[] = []
    writeCells(cells, 0, line.text)
    line.cells = cells
    return cells
  }

  private insertCharacters(count: number): void {
    const cells = this.cells()
    if (this.column >= cells.length) return
    cells.splice(this.column, 0, ...Array<string>(count).fill(' '))
    cells.length = Math.min(cells.length, Math.max(MOST_EDITED, this.column))
  }

  private eraseLine(how: number): void {
    const cells = this.cells()
    if (how === 1) cells.fill(' ', 0, this.column + 1)
    else cells.length = how === 0 ? Math.min(cells.length, this.column) : 0
  }

  private eraseScreen(how: number): void {
    if (how === 0) {
      this.eraseLine(0)
      this.lines.length = this.row + 1
    } else if (how === 3) {
      const gone = Math.min(this.top, this.row)
      this.gone = []
      this.lines.splice(0, gone)
      this.row -= gone
      this.top -= gone
    } else {
      if (how === 1) this.eraseLine(1)
      const end = how === 1 ? this.row : this.lines.length
      for (let row = this.top; row < end; row += 1) this.lines[row] = emptyLine()
      if (how === 2) this.lines.length = Math.min(this.lines.length, this.row + 1)
    }
  }
}

function emptyLine(): Line {
  return { text: '', width: 0, cells: null }
}

/** Spaces at the end of a line, with which programs write over what stood there, are not seen. */
function shownLine(line: Line): string {
  if (!line.cells) return line.text
  let end = line.cells.length
  while (end > 0 && line.cells[end - 1] === ' ') end -= 1
  return line.cells.slice(0, end).join('')
}

function columnsOf(character: string, column: number): number {
  if (character === '\t') return TAB - (column % TAB)
  if (MARK.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** The column after a text that is written from a column on. */
function columnAfter(start: number, text: string): number {
  if (/^[ -~\u2500-\u259f]*$/.test(text)) return start + text.length
  let column = start
  for (const character of text) column += columnsOf(character, column)
  return column
}

/** Writes over what stands from a column on; the column after it. A wide character and a tab have empty cells after them. */
function writeCells(cells: string[], start: number, text: string): number {
  let column = start
  while (cells.length < column) cells.push(' ')
  for (const character of text) {
    const width = columnsOf(character, column)
    if (width === 0) {
      const at = cells[column - 1] === '' ? column - 2 : column - 1
      if (cells[at] !== undefined) cells[at] += character
      continue
    }
    if (character !== '\t' || column >= cells.length) {
      clearLead(cells, column)
      for (let at = column; at < column + width; at += 1) cells[at] = at === column ? character : ''
      for (let at = column + width; cells[at] === ''; at += 1) cells[at] = ' '
    }
    column += width
  }
  return column
}

/** A wide character or a tab of which a part is written over becomes spaces. */
function clearLead(cells: string[], column: number): void {
  if (cells[column] !== '') return
  let first = column
  while (first > 0 && cells[first] === '') first -= 1
  cells.fill(' ', first, column)
}
