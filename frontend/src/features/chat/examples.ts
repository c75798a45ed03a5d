import { Code, Library, MessageCircle, Monitor, PenLine, Shapes } from '@lucide/vue'
import type { Component } from 'vue'
import type { ChosenOptions } from '@/features/settings'

/** What an example shows. */
export type Scene = 'desktop' | 'terminal' | 'document' | 'decision' | 'list' | 'agents' | 'answer'

interface Look {
  readonly icon: Component
  /** Of its suggestions, one after the other. */
  readonly scenes: readonly Scene[]
}
const looks: Readonly<Record<string, Look>> = {
  general: { icon: Monitor, scenes: ['desktop', 'document', 'terminal'] },
  coding: { icon: Code, scenes: ['terminal', 'desktop', 'list'] },
  research: { icon: Library, scenes: ['document', 'list', 'answer'] },
  writing: { icon: PenLine, scenes: ['document', 'answer', 'list'] },
  chat: { icon: MessageCircle, scenes: ['answer', 'list', 'answer'] },
}
/** Of a preset that the page does not know. */
const otherwise: Look = { icon: Shapes, scenes: ['answer', 'document', 'list'] }

export function lookOf(preset: string | null | undefined): Look {
  return (preset ? looks[preset] : undefined) ?? otherwise
}
export function sceneAt(preset: string | null | undefined, at: number): Scene {
  const { scenes } = lookOf(preset)
  return scenes[at % scenes.length] ?? 'answer'
}

/** The demo model only does what is in its script. What an example needs of the conversation that it begins: */
export const demoExamples: Record<
  'demo' | 'demoTalk' | 'research' | 'writing',
  readonly { readonly scene: Scene; readonly options: ChosenOptions }[]
> = {
  demo: [
    { scene: 'desktop', options: {} },
    { scene: 'document', options: {} },
    { scene: 'decision', options: { enable_approval: true } },
    { scene: 'list', options: {} },
    { scene: 'answer', options: {} },
    { scene: 'agents', options: {} },
    { scene: 'answer', options: { enable_thinking: true, thinking_effort: 'high' } },
    { scene: 'document', options: {} },
    { scene: 'list', options: {} },
    { scene: 'document', options: {} },
    { scene: 'terminal', options: {} },
    { scene: 'document', options: {} },
  ],
  research: [
    { scene: 'list', options: {} },
    { scene: 'document', options: {} },
    { scene: 'answer', options: {} },
  ],
  writing: [
    { scene: 'document', options: {} },
    { scene: 'list', options: {} },
    { scene: 'answer', options: {} },
  ],
  demoTalk: [
    { scene: 'decision', options: {} },
    { scene: 'answer', options: {} },
    { scene: 'terminal', options: {} },
  ],
}

/** Those of a preset: some have their own. */
export function demoOf(preset: string | undefined, hasComputer: boolean): keyof typeof demoExamples {
  if (!hasComputer) return 'demoTalk'
  return preset === 'research' || preset === 'writing' ? preset : 'demo'
}
