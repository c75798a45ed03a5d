import {
  Bot,
  Braces,
  AppWindow,
  Brain,
  Clock,
  EthernetPort,
  FileCode,
  FileDiff,
  FileText,
  Globe,
  GraduationCap,
  ListChecks,
  ListTodo,
  Image,
  Library,
  MessageCircleQuestionMark,
  MousePointer2,
  NotebookPen,
  Search,
  SquareTerminal,
  UsersRound,
  Wrench,
} from '@lucide/vue'
import { defineAsyncComponent, type Component } from 'vue'
import type { Display } from '@/api/types'
import { PortLine } from '@/features/ports'
import type { ToolCard } from './body/card'
import BrowserView from './views/BrowserView.vue'
import CodeView from './views/CodeView.vue'
import DesktopView from './views/DesktopView.vue'
import FileView from './views/FileView.vue'
import ImageView from './views/ImageView.vue'
import NavigationView from './views/NavigationView.vue'
import PlainView from './views/PlainView.vue'
import SearchView from './views/SearchView.vue'
import ShellView from './views/ShellView.vue'

/** The part of the computer where a call is at work. */
export type Place = 'desktop' | 'browser' | 'terminal' | 'editor' | 'agents' | 'background' | 'ports'

/** All there is to know about how a kind of call looks. */
export interface ToolView {
  /** Names of tools whose calls it shows before a result is there, or where the result has no view of its own. */
  readonly names: RegExp
  readonly icon: Component
  readonly component: Component
  /** What the call is about, in a few words. */
  readonly target: (card: ToolCard) => string
  /** Null for what is at work nowhere on the computer. */
  readonly place: Place | ((card: ToolCard) => Place) | null
  /** What a call that succeeded shows also while its card is closed; null shows nothing. */
  readonly below?: { readonly component: Component; readonly props: (card: ToolCard) => object | null }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const argument =
  (...names: string[]) =>
  (card: ToolCard): string => {
    for (const name of names) if (text(card.arguments[name])) return text(card.arguments[name])
    return ''
  }
const shellPlace = ({ name, display }: ToolCard): Place =>
  display?.type === 'shell'
    ? display.background
      ? 'background'
      : 'terminal'
    : name.startsWith('shell')
      ? 'terminal'
      : 'background'
const firstLine = (code: string): string => code.trim().split('\n')[0] ?? ''

/** By what a result says it is; the compiler lists one that has no view. Of two that take a name the first shows it. */
const displayed: Readonly<Record<Display['type'], ToolView>> = {
  shell: {
    names: /^(shell|.*background)/,
    icon: SquareTerminal,
    component: ShellView,
    target: argument('command', 'input', 'shell', 'background_id'),
    place: shellPlace,
  },
  code: {
    names: /^code_run/,
    icon: Braces,
    component: CodeView,
    target: (card) => argument('context', 'language')(card) || firstLine(text(card.arguments['code'])),
    place: 'editor',
  },
  navigation: {
    names: /^code_(symbols|definition|references)/,
    icon: FileCode,
    component: NavigationView,
    target: argument('symbol', 'query', 'path'),
    place: 'editor',
  },
  diff: {
    names: /^file_edit/,
    icon: FileDiff,
    component: defineAsyncComponent(() => import('./views/DiffView.vue')),
    target: argument('path', 'file'),
    place: 'editor',
  },
  file: {
    names: /^file/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'file', 'pattern', 'query', 'source'),
    place: 'editor',
  },
  browser: {
    names: /^browser/,
    icon: AppWindow,
    component: BrowserView,
    target: argument('url', 'text', 'key'),
    place: 'browser',
  },
  desktop: {
    names: /^desktop/,
    icon: MousePointer2,
    component: DesktopView,
    target: argument('text', 'keys', 'action'),
    place: 'desktop',
  },
  search: { names: /^(web_)?search/, icon: Search, component: SearchView, target: argument('query'), place: 'browser' },
  image: { names: /screenshot|image/, icon: Image, component: ImageView, target: argument('path'), place: 'editor' },
  document: {
    names: /^(save_to|document|report)/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'file_name', 'title'),
    place: 'editor',
  },
}
const portOf = ({ arguments: { port } }: ToolCard): object | null =>
  Number.isInteger(Number(port)) ? { number: Number(port) } : null
/** Of tools whose results are text alone. */
const plain: readonly ToolView[] = [
  { names: /_skills?$/, icon: GraduationCap, component: PlainView, target: argument('skill', 'name'), place: null },
  { names: /^code_/, icon: Braces, component: PlainView, target: argument('context'), place: null },
  { names: /^think$/, icon: Brain, component: PlainView, target: () => '', place: null },
  { names: /^ask_user$/, icon: MessageCircleQuestionMark, component: PlainView, target: () => '', place: null },
  {
    names: /^(.*teammates?|send_message|read_inbox|broadcast|.*shutdown.*|check_protocol|plan_review|submit_plan)$/,
    icon: UsersRound,
    component: PlainView,
    target: argument('name', 'to', 'teammate'),
    place: 'agents',
  },
  { names: /plan/, icon: ListChecks, component: PlainView, target: () => '', place: null },
  { names: /^task_/, icon: ListTodo, component: PlainView, target: argument('subject'), place: null },
  { names: /^todo_/, icon: ListTodo, component: PlainView, target: argument('content'), place: null },
  {
    names: /^(papers?|corpus)_/,
    icon: Library,
    component: PlainView,
    target: argument('query', 'id', 'name', 'record'),
    place: null,
  },
  { names: /^memory_/, icon: NotebookPen, component: PlainView, target: argument('path', 'new_path'), place: null },
  {
    names: /^task$/,
    icon: Bot,
    component: defineAsyncComponent(() => import('./views/TaskView.vue')),
    target: (card) => card.agentKind ?? argument('agent_type')(card),
    place: 'agents',
  },
  {
    names: /^expose_port$/,
    icon: EthernetPort,
    component: PlainView,
    // Its name stands below it once it is open.
    target: (card) => (card.outcome === 'succeeded' ? '' : argument('label')(card)),
    place: 'ports',
    below: { component: PortLine, props: portOf },
  },
  { names: /^close_port$/, icon: EthernetPort, component: PlainView, target: () => '', place: 'ports' },
  { names: /^utc_now$/, icon: Clock, component: PlainView, target: () => '', place: null },
  { names: /^(fetch|web)/, icon: Globe, component: PlainView, target: argument('url'), place: 'browser' },
]
const otherwise: ToolView = { names: /^/, icon: Wrench, component: PlainView, target: () => '', place: null }
const byDisplay = new Map<string, ToolView>(Object.entries(displayed))
const views = [...byDisplay.values(), ...plain]

export function viewOf(card: ToolCard): ToolView {
  const shown = card.display ? byDisplay.get(card.display.type) : undefined
  return shown ?? views.find((view) => view.names.test(card.name)) ?? otherwise
}

export function placeOf(card: ToolCard): Place | null {
  const { place } = viewOf(card)
  return typeof place === 'function' ? place(card) : place
}
