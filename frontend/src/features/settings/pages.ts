import {
  Bell,
  Bot,
  CalendarClock,
  ChartColumn,
  GraduationCap,
  Info,
  KeyRound,
  NotebookPen,
  Palette,
  Plug,
  Server,
  Share2,
  SlidersHorizontal,
  UserRound,
} from '@lucide/vue'
import type { Component } from 'vue'
import { AccountSection, useAuth } from '@/features/auth'
import { SharesPage } from '@/features/sharing'
import { SkillsPage } from '@/features/skills'
import type en from '@/i18n/en'
import { lazyPart } from '@/shared/ui/lazyPart'

/** All there is to know about a page of the settings. */
interface Page<Id extends string> {
  /** Also its name in the page's address. */
  readonly id: Id
  readonly label: `settings.page.${keyof typeof en.settings.page}`
  readonly icon: Component
  /** Takes no props. Its code comes when it is first shown. */
  readonly component: Component
  /** Left out: always. */
  readonly isOffered?: () => boolean
}

/** Keeps the id as it is written. */
const page = <const Id extends string>(record: Page<Id>) => record

/** In the order of the navigation. */
export const pages = [
  page({
    id: 'appearance',
    label: 'settings.page.appearance',
    icon: Palette,
    component: lazyPart(() => import('./AppearancePage.vue')),
  }),
  page({
    id: 'models',
    label: 'settings.page.models',
    icon: KeyRound,
    component: lazyPart(() => import('./ModelsPage.vue')),
  }),
  page({
    id: 'defaults',
    label: 'settings.page.defaults',
    icon: SlidersHorizontal,
    component: lazyPart(() => import('./DefaultsPage.vue')),
  }),
  page({ id: 'skills', label: 'settings.page.skills', icon: GraduationCap, component: SkillsPage }),
  page({
    id: 'memories',
    label: 'settings.page.memories',
    icon: NotebookPen,
    component: lazyPart(() => import('./MemoriesPage.vue')),
  }),
  page({
    id: 'agents',
    label: 'settings.page.agents',
    icon: Bot,
    component: lazyPart(() => import('./AgentsPage.vue')),
  }),
  page({ id: 'mcp', label: 'settings.page.mcp', icon: Plug, component: lazyPart(() => import('./McpPage.vue')) }),
  page({
    id: 'targets',
    label: 'settings.page.targets',
    icon: Server,
    component: lazyPart(() => import('./TargetsPage.vue')),
  }),
  page({
    id: 'schedules',
    label: 'settings.page.schedules',
    icon: CalendarClock,
    component: lazyPart(() => import('./SchedulesPage.vue')),
  }),
  page({
    id: 'notifications',
    label: 'settings.page.notifications',
    icon: Bell,
    component: lazyPart(() => import('./NotificationsPage.vue')),
  }),
  page({ id: 'shares', label: 'settings.page.shares', icon: Share2, component: SharesPage }),
  page({
    id: 'usage',
    label: 'settings.page.usage',
    icon: ChartColumn,
    component: lazyPart(() => import('./UsagePage.vue')),
  }),
  page({
    id: 'account',
    label: 'settings.page.account',
    icon: UserRound,
    component: AccountSection,
    isOffered: () => !useAuth().isLocal,
  }),
  page({ id: 'about', label: 'settings.page.about', icon: Info, component: lazyPart(() => import('./AboutPage.vue')) }),
] as const

export type SettingsPageId = (typeof pages)[number]['id']

export function offeredPages(): Page<SettingsPageId>[] {
  return pages.filter((one: Page<SettingsPageId>) => one.isOffered?.() ?? true)
}

export function settingsPageNamed(name: unknown): SettingsPageId | null {
  return offeredPages().find(({ id }) => id === name)?.id ?? null
}
