import {
  Bell,
  Bot,
  CalendarClock,
  ChartColumn,
  GraduationCap,
  KeyRound,
  NotebookPen,
  Palette,
  Plug,
  SlidersHorizontal,
  UserRound,
} from '@lucide/vue'
import type { Component } from 'vue'
import { AccountSection, useAuth } from '@/features/auth'
import { SkillsPage } from '@/features/skills'
import type en from '@/i18n/en'
import AgentsPage from './AgentsPage.vue'
import AppearancePage from './AppearancePage.vue'
import DefaultsPage from './DefaultsPage.vue'
import McpPage from './McpPage.vue'
import MemoriesPage from './MemoriesPage.vue'
import ModelsPage from './ModelsPage.vue'
import NotificationsPage from './NotificationsPage.vue'
import SchedulesPage from './SchedulesPage.vue'
import UsagePage from './UsagePage.vue'

/** All there is to know about a page of the settings. */
interface Page<Id extends string> {
  /** Also its name in the page's address. */
  readonly id: Id
  readonly label: `settings.page.${keyof typeof en.settings.page}`
  readonly icon: Component
  /** Takes no props. One that brings much code is a `defineAsyncComponent`. */
  readonly component: Component
  /** Left out: always. */
  readonly isOffered?: () => boolean
}

/** Keeps the id as it is written. */
const page = <const Id extends string>(record: Page<Id>) => record

/** In the order of the navigation. */
export const pages = [
  page({ id: 'appearance', label: 'settings.page.appearance', icon: Palette, component: AppearancePage }),
  page({ id: 'models', label: 'settings.page.models', icon: KeyRound, component: ModelsPage }),
  page({ id: 'defaults', label: 'settings.page.defaults', icon: SlidersHorizontal, component: DefaultsPage }),
  page({ id: 'skills', label: 'settings.page.skills', icon: GraduationCap, component: SkillsPage }),
  page({ id: 'memories', label: 'settings.page.memories', icon: NotebookPen, component: MemoriesPage }),
  page({ id: 'agents', label: 'settings.page.agents', icon: Bot, component: AgentsPage }),
  page({ id: 'mcp', label: 'settings.page.mcp', icon: Plug, component: McpPage }),
  page({ id: 'schedules', label: 'settings.page.schedules', icon: CalendarClock, component: SchedulesPage }),
  page({ id: 'notifications', label: 'settings.page.notifications', icon: Bell, component: NotificationsPage }),
  page({ id: 'usage', label: 'settings.page.usage', icon: ChartColumn, component: UsagePage }),
  page({
    id: 'account',
    label: 'settings.page.account',
    icon: UserRound,
    component: AccountSection,
    isOffered: () => !useAuth().isLocal,
  }),
] as const

export type SettingsPageId = (typeof pages)[number]['id']

export function offeredPages(): Page<SettingsPageId>[] {
  return pages.filter((one: Page<SettingsPageId>) => one.isOffered?.() ?? true)
}

export function settingsPageNamed(name: unknown): SettingsPageId | null {
  return offeredPages().find(({ id }) => id === name)?.id ?? null
}
