import {
  Activity,
  AppWindow,
  ArrowLeftRight,
  Bot,
  EthernetPort,
  FilePen,
  FolderOpen,
  Hourglass,
  ListTodo,
  LibraryBig,
  Monitor,
  PenLine,
  SquareTerminal,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { BackgroundCommand } from '@/features/background'
import type en from '@/i18n/en'
import { face } from '@/shared/lib/face'
import type { Computer } from './computer'

/** What decides which panels there are. */
export interface Offering {
  readonly computer: Computer
  /** Calls of models are stored here, or were. */
  readonly hasModelCalls: boolean
  /** What runs in the background, and ran there. */
  readonly background: readonly BackgroundCommand[]
  /** Those that work, or worked, for the one the person talks to. */
  readonly agents: readonly { readonly key: string }[]
  /** How often an agent of the conversation has changed a project of writing. */
  readonly written?: number
  /** How often an agent of the conversation has changed the papers that are kept. */
  readonly keptPapers?: number
  /** Papers are linked to the conversation, or were attached to it. */
  readonly isWithPapers?: boolean
}

/** All there is to know about a panel of the computer, but for its component, which comes when the computer is shown. */
interface Panel<Id extends string> {
  /** Also its name in the page's address. */
  readonly id: Id
  readonly title: `computer.tab.${keyof typeof en.computer.tab}`
  readonly icon: Component
  readonly isOffered: (known: Offering) => boolean
}

/** Keeps the id as it is written. */
const panel = <const Id extends string>(record: Panel<Id>) => record

/** In the order of their tabs. */
export const panels = [
  panel({
    id: 'desktop',
    title: 'computer.tab.desktop',
    icon: Monitor,
    isOffered: ({ computer }) => computer.status !== 'ready' || computer.hasDesktop,
  }),
  panel({
    id: 'browser',
    title: 'computer.tab.browser',
    icon: AppWindow,
    isOffered: ({ computer }) => computer.status !== 'ready' || computer.hasDesktop,
  }),
  panel({
    id: 'terminal',
    title: 'computer.tab.terminal',
    icon: SquareTerminal,
    isOffered: () => true,
  }),
  panel({
    id: 'editor',
    title: 'computer.tab.editor',
    icon: FilePen,
    isOffered: () => true,
  }),
  panel({
    id: 'agents',
    title: 'computer.tab.agents',
    icon: Bot,
    isOffered: ({ agents }) => agents.length > 0,
  }),
  panel({
    id: 'background',
    title: 'computer.tab.background',
    icon: Hourglass,
    isOffered: ({ background }) => background.length > 0,
  }),
  panel({
    id: 'draft',
    title: 'computer.tab.draft',
    icon: PenLine,
    isOffered: ({ written = 0 }) => written > 0,
  }),
  panel({
    id: 'papers',
    title: 'computer.tab.papers',
    icon: LibraryBig,
    isOffered: ({ keptPapers = 0, isWithPapers = false }) => isWithPapers || keptPapers > 0,
  }),
  panel({
    id: 'files',
    title: 'computer.tab.files',
    icon: FolderOpen,
    isOffered: () => true,
  }),
  panel({
    id: 'resources',
    title: 'computer.tab.resources',
    icon: ListTodo,
    isOffered: () => true,
  }),
  panel({
    id: 'ports',
    title: 'computer.tab.ports',
    icon: EthernetPort,
    isOffered: () => true,
  }),
  panel({
    id: 'model-calls',
    title: 'computer.tab.model-calls',
    icon: ArrowLeftRight,
    isOffered: ({ hasModelCalls }) => hasModelCalls,
  }),
  panel({
    id: 'events',
    title: 'computer.tab.events',
    icon: Activity,
    isOffered: () => face.value === 'developer',
  }),
] as const

export type PanelId = (typeof panels)[number]['id']

export function offeredPanels(known: Offering): (typeof panels)[number][] {
  return panels.filter((one) => one.isOffered(known))
}

/** Which panel is seen where this one was chosen: what is not offered now may be later. */
export function shownPanel(chosen: PanelId, known: Offering): PanelId {
  const offered = offeredPanels(known)
  return (offered.find(({ id }) => id === chosen) ?? offered[0] ?? panels[0]).id
}

/** How the address names the panel that follows the agent, where it has to. */
export const FOLLOWS = 'live'

export function panelNamed(name: unknown): PanelId | undefined {
  return panels.find(({ id }) => id === name)?.id
}
