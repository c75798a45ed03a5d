import {
  Bot,
  AppWindow,
  Brain,
  Clock,
  FileDiff,
  FileText,
  Globe,
  Image,
  Search,
  SquareTerminal,
  Wrench,
} from '@lucide/vue'
import { defineAsyncComponent, type Component } from 'vue'
import type { ToolCard } from './body/card'
import BrowserView from './views/BrowserView.vue'
import FileView from './views/FileView.vue'
import ImageView from './views/ImageView.vue'
import PlainView from './views/PlainView.vue'
import SearchView from './views/SearchView.vue'
import ShellView from './views/ShellView.vue'

/** All there is to know about how a kind of call looks. */
export interface ToolView {
  /** The `display` type it shows; several views may serve the same names before a result is there. */
  readonly display: string | null
  readonly names: RegExp
  readonly icon: Component
  readonly component: Component
  /** What the call is about, in a few words. */
  readonly target: (card: ToolCard) => string
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const argument =
  (...names: string[]) =>
  (card: ToolCard): string => {
    for (const name of names) if (text(card.arguments[name])) return text(card.arguments[name])
    return ''
  }

const views: readonly ToolView[] = [
  {
    display: 'shell',
    names: /^shell/,
    icon: SquareTerminal,
    component: ShellView,
    target: argument('command', 'input', 'shell'),
  },
  {
    display: 'diff',
    names: /^file_edit/,
    icon: FileDiff,
    component: defineAsyncComponent(() => import('./views/DiffView.vue')),
    target: argument('path', 'file'),
  },
  {
    display: 'file',
    names: /^file/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'file', 'pattern', 'query', 'source'),
  },
  {
    display: 'browser',
    names: /^browser/,
    icon: AppWindow,
    component: BrowserView,
    target: argument('url', 'text', 'key'),
  },
  { display: 'search', names: /^(web_)?search/, icon: Search, component: SearchView, target: argument('query') },
  { display: 'image', names: /screenshot|image/, icon: Image, component: ImageView, target: argument('path') },
  {
    display: 'document',
    names: /^(save_to|document|report)/,
    icon: FileText,
    component: FileView,
    target: argument('path', 'title'),
  },
  { display: null, names: /^think$/, icon: Brain, component: PlainView, target: () => '' },
  { display: null, names: /^task$/, icon: Bot, component: PlainView, target: () => '' },
  { display: null, names: /^utc_now$/, icon: Clock, component: PlainView, target: () => '' },
  { display: null, names: /^(fetch|web)/, icon: Globe, component: PlainView, target: argument('url') },
]
const otherwise: ToolView = { display: null, names: /^/, icon: Wrench, component: PlainView, target: () => '' }

export function viewOf(card: ToolCard): ToolView {
  const type = card.display?.type
  return (
    (type ? views.find((view) => view.display === type) : undefined) ??
    views.find((view) => view.names.test(card.name)) ??
    otherwise
  )
}
