import {
  AppWindow,
  ArrowLeftRight,
  Bot,
  EthernetPort,
  FilePen,
  FolderOpen,
  Hourglass,
  Monitor,
  SquareTerminal,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { OpenPort } from '@/api/types'
import { BackgroundPanel, type BackgroundCommand } from '@/features/background'
import { FilesPanel } from '@/features/files'
import { PortsPanel } from '@/features/ports'
import type { ToolCard } from '@/features/tools'
import { ModelCallsPanel, type ModelCall } from '@/features/traces'
import type en from '@/i18n/en'
import type { AgentAtWork } from './agents'
import AgentsView from './AgentsView.vue'
import type { Computer } from './computer'
import DesktopView from './DesktopView.vue'
import StageView from './StageView.vue'
import TerminalView from './TerminalView.vue'

/** What decides which panels there are. */
export interface Offering {
  readonly computer: Computer
  /** Calls of models are stored here, or were. */
  readonly hasModelCalls: boolean
  /** What runs in the background, and ran there. */
  readonly background: readonly BackgroundCommand[]
  /** Those that work, or worked, for the one the person talks to. */
  readonly agents: readonly AgentAtWork[]
}

/** What is known of the session on screen; each panel takes from it what it shows. */
export interface PanelContext extends Offering {
  readonly sessionId: string
  readonly cards: readonly ToolCard[]
  /** Grows with each change of files. */
  readonly filesVersion: number
  readonly modelCalls: readonly ModelCall[]
  /** Those that events say are open. */
  readonly ports: readonly OpenPort[]
  readonly isRunning: boolean
  /** The run at work has used the screen of the computer. */
  readonly usesScreen: boolean
  /** The file that was opened, by its path in the workspace. */
  readonly shownFile: string | null
  readonly showFile: (path: string | null) => void
}

type PropsOf<C> = C extends new (...given: never[]) => { $props: infer Props } ? Props : never

/** All there is to know about a panel of the computer. */
interface Panel<Id extends string, C> {
  /** Also its name in the page's address. */
  readonly id: Id
  readonly title: `computer.tab.${keyof typeof en.computer.tab}`
  readonly icon: Component
  /** One that brings much code is a `defineAsyncComponent`. What it has in its slot says why the computer is not there. */
  readonly component: C
  readonly props: (context: PanelContext) => PropsOf<C>
  readonly isOffered: (known: Offering) => boolean
}

/** Keeps the id as it is written, and compares the props with what the component takes. */
const panel = <const Id extends string, C extends Component>(record: Panel<Id, C>) => record

/** In the order of their tabs. */
export const panels = [
  panel({
    id: 'desktop',
    title: 'computer.tab.desktop',
    icon: Monitor,
    component: DesktopView,
    props: ({ sessionId, computer, isRunning, usesScreen }) => ({ sessionId, computer, isRunning, usesScreen }),
    isOffered: ({ computer }) => computer.status !== 'ready' || computer.hasDesktop,
  }),
  panel({
    id: 'browser',
    title: 'computer.tab.browser',
    icon: AppWindow,
    component: StageView,
    props: ({ sessionId, cards }) => ({ sessionId, cards, place: 'browser' as const, icon: AppWindow }),
    isOffered: ({ computer }) => computer.status !== 'ready' || computer.hasDesktop,
  }),
  panel({
    id: 'terminal',
    title: 'computer.tab.terminal',
    icon: SquareTerminal,
    component: TerminalView,
    props: ({ cards }) => ({ cards }),
    isOffered: () => true,
  }),
  panel({
    id: 'editor',
    title: 'computer.tab.editor',
    icon: FilePen,
    component: StageView,
    props: ({ sessionId, cards }) => ({ sessionId, cards, place: 'editor' as const, icon: FilePen }),
    isOffered: () => true,
  }),
  panel({
    id: 'agents',
    title: 'computer.tab.agents',
    icon: Bot,
    component: AgentsView,
    props: ({ agents }) => ({ agents }),
    isOffered: ({ agents }) => agents.length > 0,
  }),
  panel({
    id: 'background',
    title: 'computer.tab.background',
    icon: Hourglass,
    component: BackgroundPanel,
    props: ({ sessionId, background }) => ({ sessionId, commands: background }),
    isOffered: ({ background }) => background.length > 0,
  }),
  panel({
    id: 'files',
    title: 'computer.tab.files',
    icon: FolderOpen,
    component: FilesPanel,
    props: ({ sessionId, computer, filesVersion, isRunning, shownFile, showFile }) => ({
      sessionId,
      version: filesVersion,
      isComputerReady: computer.status === 'ready',
      isRunning,
      shown: shownFile,
      'onUpdate:shown': showFile,
    }),
    isOffered: () => true,
  }),
  panel({
    id: 'ports',
    title: 'computer.tab.ports',
    icon: EthernetPort,
    component: PortsPanel,
    props: ({ sessionId, computer, ports }) => ({
      sessionId,
      told: ports,
      isComputerReady: computer.status === 'ready',
    }),
    isOffered: () => true,
  }),
  panel({
    id: 'model-calls',
    title: 'computer.tab.model-calls',
    icon: ArrowLeftRight,
    component: ModelCallsPanel,
    props: ({ sessionId, modelCalls }) => ({ sessionId, calls: modelCalls }),
    isOffered: ({ hasModelCalls }) => hasModelCalls,
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
