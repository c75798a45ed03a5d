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

/** All there is to know about how a kind of call looks. */
export interface ToolView {
  /** Names of tools whose calls it shows before a result is there, or where the result has no view of its own. */
  readonly names: RegExp
  readonly icon: Component
  readonly component: Component
  /** What the call is about, in a few words. */
  readonly target: (card: ToolCard) => string
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
const firstLine = (code: string): string => code.trim().split('\n')[0] ?? ''

/** By what a result says it is; the compiler lists one that has no view. Of two that take a name the first shows it. */
const displayed: Readonly<Record<Display['type'], ToolView>> = {
  shell: {
    names: /^(shell|.*background)/,
    icon: SquareTerminal,
    component: ShellView,
    target: argument('command', 'input', 'shell', 'background_id'),
  },
  code: {
    names: /^code_run/,
    icon: Braces,
    component: CodeView,
    target: (card) => argument('context', 'language')(card) || firstLine(text(card.arguments['code'])),
  },
  navigation: {
    names: /^code_(symbols|definition|references)/,
    icon: FileCode,
    component: NavigationView,
    target: argument('symbol', 'query', 'path'),
  },
  diff: {
    names: /^file_edit/,
    icon: FileDiff,
    component: defineAsyncComponent(() => import('./views/DiffView.vue')),
    target: argument('path', 'file'),
  },
  file: {
    names: /^file/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'file', 'pattern', 'query', 'source'),
  },
  browser: {
    names: /^browser/,
    icon: AppWindow,
    component: BrowserView,
    target: argument('url', 'text', 'key'),
  },
  desktop: {
    names: /^desktop/,
    icon: MousePointer2,
    component: DesktopView,
    target: argument('text', 'keys', 'action'),
  },
  search: { names: /^(web_)?search/, icon: Search, component: SearchView, target: argument('query') },
  image: { names: /screenshot|image/, icon: Image, component: ImageView, target: argument('path') },
  document: {
    names: /^(save_to|document|report)/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'file_name', 'title'),
  },
}
const portOf = ({ arguments: { port } }: ToolCard): object | null =>
  Number.isInteger(Number(port)) ? { number: Number(port) } : null
/** Of tools whose results are text alone. */
const plain: readonly ToolView[] = [
  { names: /_skills?$/, icon: GraduationCap, component: PlainView, target: argument('skill', 'name') },
  { names: /^code_/, icon: Braces, component: PlainView, target: argument('context') },
  { names: /^think$/, icon: Brain, component: PlainView, target: () => '' },
  { names: /^ask_user$/, icon: MessageCircleQuestionMark, component: PlainView, target: () => '' },
  {
    names: /^(.*teammates?|send_message|read_inbox|broadcast|.*shutdown.*|check_protocol|plan_review|submit_plan)$/,
    icon: UsersRound,
    component: PlainView,
    target: argument('name', 'to', 'teammate'),
  },
  { names: /plan/, icon: ListChecks, component: PlainView, target: () => '' },
  { names: /^task_/, icon: ListTodo, component: PlainView, target: argument('subject') },
  { names: /^todo_/, icon: ListTodo, component: PlainView, target: argument('content') },
  {
    names: /^(papers?|corpus)_/,
    icon: Library,
    component: PlainView,
    target: argument('query', 'id', 'name', 'record'),
  },
  { names: /^memory_/, icon: NotebookPen, component: PlainView, target: argument('path', 'new_path') },
  {
    names: /^task$/,
    icon: Bot,
    component: defineAsyncComponent(() => import('./views/TaskView.vue')),
    target: (card) => card.agentKind ?? argument('agent_type')(card),
  },
  {
    names: /^expose_port$/,
    icon: EthernetPort,
    component: PlainView,
    // Its name stands below it once it is open.
    target: (card) => (card.outcome === 'succeeded' ? '' : argument('label')(card)),
    below: { component: PortLine, props: portOf },
  },
  { names: /^close_port$/, icon: EthernetPort, component: PlainView, target: () => '' },
  { names: /^utc_now$/, icon: Clock, component: PlainView, target: () => '' },
  { names: /^(fetch|web)/, icon: Globe, component: PlainView, target: argument('url') },
]
const otherwise: ToolView = { names: /^/, icon: Wrench, component: PlainView, target: () => '' }
const byDisplay = new Map<string, ToolView>(Object.entries(displayed))
const views = [...byDisplay.values(), ...plain]

export function viewOf(card: ToolCard): ToolView {
  const shown = card.display ? byDisplay.get(card.display.type) : undefined
  return shown ?? views.find((view) => view.names.test(card.name)) ?? otherwise
}
