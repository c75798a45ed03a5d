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
  Hand,
  GraduationCap,
  ListChecks,
  ListTodo,
  Image,
  Library,
  MessageCircleQuestionMark,
  MousePointer2,
  NotebookPen,
  PenLine,
  Quote,
  Search,
  SquareTerminal,
  UsersRound,
  Wrench,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { Display } from '@/api/types'
import type { ToolCard } from './body/card'

/** The part of the computer where a call is at work. */
export type Place = 'desktop' | 'browser' | 'terminal' | 'editor' | 'agents' | 'background' | 'ports'

export type Shows =
  | 'browser'
  | 'code'
  | 'desktop'
  | 'diff'
  | 'file'
  | 'findings'
  | 'image'
  | 'navigation'
  | 'plain'
  | 'search'
  | 'shell'
  | 'task'

/** All there is to know about how a kind of call looks, but for its components, which come with the first card. */
export interface ToolView {
  /** Names of tools whose calls it shows before a result is there, or where the result has no view of its own. */
  readonly names: RegExp
  readonly icon: Component
  /** By which its result is shown, in `registry.ts`. */
  readonly shows: Shows
  /** What the call is about, in a few words. */
  readonly target: (card: ToolCard) => string
  /** Null for what is at work nowhere on the computer. */
  readonly place: Place | ((card: ToolCard) => Place) | null
  /** The opened port that a call which succeeded shows also while its card is closed; null shows nothing. */
  readonly below?: (card: ToolCard) => { readonly number: number } | null
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
    shows: 'shell',
    target: argument('command', 'input', 'shell', 'background_id'),
    place: shellPlace,
  },
  code: {
    names: /^code_run/,
    icon: Braces,
    shows: 'code',
    target: (card) => argument('context', 'language')(card) || firstLine(text(card.arguments['code'])),
    place: 'editor',
  },
  navigation: {
    names: /^code_(symbols|definition|references)/,
    icon: FileCode,
    shows: 'navigation',
    target: argument('symbol', 'query', 'path'),
    place: 'editor',
  },
  diff: {
    names: /^file_edit/,
    icon: FileDiff,
    shows: 'diff',
    target: argument('path', 'file'),
    place: 'editor',
  },
  file: {
    names: /^file/,
    icon: FileText,
    shows: 'file',
    target: argument('path', 'file', 'pattern', 'query', 'source'),
    place: 'editor',
  },
  browser: {
    names: /^browser/,
    icon: AppWindow,
    shows: 'browser',
    target: argument('url', 'text', 'key'),
    place: 'browser',
  },
  desktop: {
    names: /^desktop/,
    icon: MousePointer2,
    shows: 'desktop',
    target: argument('text', 'keys', 'action'),
    place: 'desktop',
  },
  search: { names: /^(web_)?search/, icon: Search, shows: 'search', target: argument('query'), place: 'browser' },
  findings: { names: /^findings/, icon: Quote, shows: 'findings', target: () => '', place: null },
  image: { names: /screenshot|image/, icon: Image, shows: 'image', target: argument('path'), place: 'editor' },
  document: {
    names: /^(save_to|document|report)/,
    icon: FileText,
    shows: 'file',
    target: argument('path', 'file_name', 'title'),
    place: 'editor',
  },
}
const portOf = ({ arguments: { port } }: ToolCard): { number: number } | null =>
  Number.isInteger(Number(port)) ? { number: Number(port) } : null
/** Of tools whose results are text alone. */
const plain: readonly ToolView[] = [
  { names: /_skills?$/, icon: GraduationCap, shows: 'plain', target: argument('skill', 'name'), place: null },
  { names: /^code_/, icon: Braces, shows: 'plain', target: argument('context'), place: null },
  { names: /^think$/, icon: Brain, shows: 'plain', target: () => '', place: null },
  { names: /^ask_user$/, icon: MessageCircleQuestionMark, shows: 'plain', target: () => '', place: null },
  { names: /^ask_to_drive$/, icon: Hand, shows: 'plain', target: argument('reason'), place: 'desktop' },
  {
    names: /^(.*teammates?|send_message|read_inbox|broadcast|.*shutdown.*|check_protocol|plan_review|submit_plan)$/,
    icon: UsersRound,
    shows: 'plain',
    target: argument('name', 'to', 'teammate'),
    place: 'agents',
  },
  { names: /plan/, icon: ListChecks, shows: 'plain', target: () => '', place: null },
  { names: /^task_/, icon: ListTodo, shows: 'plain', target: argument('subject'), place: null },
  { names: /^todo_/, icon: ListTodo, shows: 'plain', target: argument('content'), place: null },
  {
    names: /^(papers?|corpus)_/,
    icon: Library,
    shows: 'plain',
    target: argument('query', 'id', 'name', 'record'),
    place: null,
  },
  {
    names: /^(project|outline|section|citations?|draft)_/,
    icon: PenLine,
    shows: 'plain',
    target: argument('title', 'section', 'record', 'project'),
    place: null,
  },
  { names: /^memory_/, icon: NotebookPen, shows: 'plain', target: argument('path', 'new_path'), place: null },
  {
    names: /^task$/,
    icon: Bot,
    shows: 'task',
    target: (card) => card.agentKind ?? argument('agent_type')(card),
    place: 'agents',
  },
  {
    names: /^expose_port$/,
    icon: EthernetPort,
    shows: 'plain',
    // Its name stands below it once it is open.
    target: (card) => (card.outcome === 'succeeded' ? '' : argument('label')(card)),
    place: 'ports',
    below: portOf,
  },
  { names: /^close_port$/, icon: EthernetPort, shows: 'plain', target: () => '', place: 'ports' },
  { names: /^utc_now$/, icon: Clock, shows: 'plain', target: () => '', place: null },
  { names: /^(fetch|web)/, icon: Globe, shows: 'plain', target: argument('url'), place: 'browser' },
]
const otherwise: ToolView = { names: /^/, icon: Wrench, shows: 'plain', target: () => '', place: null }
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
