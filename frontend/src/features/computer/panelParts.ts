import type { Component } from 'vue'
import { AppWindow, FilePen } from '@lucide/vue'
import type { KeptResource, OpenPort, TaskInfo } from '@/api/types'
import { AgentsPanel } from '@/features/chat'
import { BackgroundPanel } from '@/features/background'
import { FilesPanel } from '@/features/files'
import { PortsPanel } from '@/features/ports'
import { PapersPanel } from '@/features/research'
import { ResourcesPanel } from '@/features/resources'
import { TerminalPanel } from '@/features/terminal'
import type { ToolCard } from '@/features/tools'
import { EventsPanel, ModelCallsPanel, type ModelCall } from '@/features/traces'
import { DraftPanel } from '@/features/writing'
import DesktopView from './DesktopView.vue'
import type { Offering, PanelId } from './panels'
import StageView from './StageView.vue'

/** What is known of the session on screen; each panel takes from it what it shows. */
export interface PanelContext extends Offering {
  readonly sessionId: string
  readonly cards: readonly ToolCard[]
  /** Grows with each change of files. */
  readonly filesVersion: number
  readonly modelCalls: readonly ModelCall[]
  /** Those that events say are open. */
  readonly ports: readonly OpenPort[]
  /** The conversation's, which its agents and the person share. */
  readonly tasks: readonly TaskInfo[]
  readonly kept: readonly KeptResource[]
  readonly isRunning: boolean
  /** The run at work has used the screen of the computer. */
  readonly usesScreen: boolean
  /** The file that was opened, by its path in the workspace. */
  readonly shownFile: string | null
  readonly showFile: (path: string | null) => void
}

type PropsOf<C> = C extends new (...given: never[]) => { $props: infer Props } ? Props : never

/** What shows a panel, and what it is given. */
interface Part {
  readonly component: Component
  readonly props: (context: PanelContext) => object
}

/** Compares the props with what the component takes. What a component has in its slot says why the computer is not there. */
const part = <C extends Component>(component: C, props: (context: PanelContext) => PropsOf<C>): Part => ({
  component,
  props: props as (context: PanelContext) => object,
})

/** What the agent asks the person to do there, while it waits for that. */
function askedToDrive(cards: readonly ToolCard[]): string | null {
  const asking = cards.findLast(({ name, outcome }) => name === 'ask_to_drive' && outcome === 'running')
  const reason = asking?.arguments['reason']
  return typeof reason === 'string' ? reason : null
}

export const panelParts: Readonly<Record<PanelId, Part>> = {
  desktop: part(DesktopView, ({ sessionId, cards, computer, isRunning, usesScreen }) => ({
    sessionId,
    asked: askedToDrive(cards),
    computer,
    isRunning,
    usesScreen,
  })),
  browser: part(StageView, ({ sessionId, cards }) => ({
    sessionId,
    cards,
    place: 'browser' as const,
    icon: AppWindow,
  })),
  terminal: part(TerminalPanel, ({ sessionId, cards, computer }) => ({
    sessionId,
    cards,
    isComputerReady: computer.status === 'ready',
  })),
  editor: part(StageView, ({ sessionId, cards }) => ({ sessionId, cards, place: 'editor' as const, icon: FilePen })),
  agents: part(AgentsPanel, ({ sessionId }) => ({ sessionId })),
  background: part(BackgroundPanel, ({ sessionId, background }) => ({ sessionId, commands: background })),
  draft: part(DraftPanel, ({ sessionId, written = 0 }) => ({ sessionId, version: written })),
  papers: part(PapersPanel, ({ sessionId, keptPapers = 0 }) => ({ sessionId, version: keptPapers })),
  files: part(FilesPanel, ({ sessionId, computer, filesVersion, isRunning, shownFile, showFile }) => ({
    sessionId,
    version: filesVersion,
    isComputerReady: computer.status === 'ready',
    isRunning,
    shown: shownFile,
    'onUpdate:shown': showFile,
  })),
  resources: part(ResourcesPanel, ({ sessionId, tasks, kept, showFile }) => ({ sessionId, tasks, kept, showFile })),
  ports: part(PortsPanel, ({ sessionId, computer, ports }) => ({
    sessionId,
    told: ports,
    isComputerReady: computer.status === 'ready',
  })),
  events: part(EventsPanel, ({ sessionId }) => ({ sessionId })),
  'model-calls': part(ModelCallsPanel, ({ sessionId, modelCalls }) => ({ sessionId, calls: modelCalls })),
}
