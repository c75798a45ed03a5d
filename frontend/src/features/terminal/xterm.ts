import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'

/** What the terminal view is made of: a chunk of its own, which comes when a terminal is first shown. */
export { FitAddon, Terminal }
