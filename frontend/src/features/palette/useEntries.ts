import { Bot, FileText, Library, MessageSquare, MonitorCog, Moon, Settings, Share2, SquarePen, Sun } from '@lucide/vue'
import { computed, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { useSessions } from '@/features/sessions'
import { offeredPages, useModels, useSettingsPage } from '@/features/settings'
import { useShareDialog } from '@/features/sharing'
import { setLanguage } from '@/i18n'
import { useOpenFile } from '@/shared/lib/openFile'
import { baseName } from '@/shared/lib/format'
import { themeChoice, type ThemeChoice } from '@/shared/lib/theme'
import type { Entry } from './entries'

/** What the palette offers without asking the server: actions, pages of the settings, files, models, conversations. */
export function useEntries(sessionId: () => string | null, files: Readonly<Ref<readonly string[]>>) {
  const { t, d } = useI18n()
  const router = useRouter()
  const sessions = useSessions()
  const models = useModels()
  const settings = useSettingsPage()
  const share = useShareDialog()
  const openFile = useOpenFile()

  const theme = (value: ThemeChoice, icon: Entry['icon']): Entry => ({
    ...{ id: `theme-${value}`, icon, words: `${t('settings.appearance')} ${value} theme` },
    label: t(`palette.theme.${value}`),
    run: () => void (themeChoice.value = value),
  })
  const actions = computed<Entry[]>(() => {
    const id = sessionId()
    const sharing: Entry[] = id
      ? [
          {
            id: 'share',
            label: t('share.open'),
            icon: Share2,
            words: 'share export',
            run: () => void (share.sessionId = id),
          },
        ]
      : []
    return [
      { id: 'new', label: t('sessions.new'), icon: SquarePen, words: 'new chat', run: () => go('/') },
      ...sharing,
      theme('dark', Moon),
      theme('light', Sun),
      theme('system', MonitorCog),
      { id: 'papers', label: t('corpus.title'), icon: Library, words: 'papers', run: () => go('/corpus') },
      { id: 'english', label: 'English', icon: Settings, words: t('settings.language'), run: () => setLanguage('en') },
      {
        id: 'chinese',
        label: '中文',
        icon: Settings,
        words: `${t('settings.language')} Chinese`,
        run: () => setLanguage('zh'),
      },
    ]
  })
  const settingsPages = computed<Entry[]>(() =>
    offeredPages().map(({ id, label, icon }) => ({
      ...{ id: `settings-${id}`, icon, words: `${t('settings.title')} settings ${id}` },
      label: t(label),
      run: () => settings.show(id),
    })),
  )
  const fileEntries = computed<Entry[]>(() =>
    files.value.map((path) => ({
      ...{ id: `file-${path}`, label: baseName(path), detail: path, icon: FileText },
      run: () => openFile?.(path),
    })),
  )
  const modelEntries = computed<Entry[]>(() => {
    const id = sessionId()
    if (!id) return []
    return models.list.map((model) => ({
      ...{ id: `model-${model.id}`, icon: Bot, words: `model ${model.id}` },
      label: model.is_demo ? t('model.demo') : model.label,
      detail: t('palette.useModel'),
      run: () => sessions.change(id, { model: model.id }),
    }))
  })
  const conversations = computed<Entry[]>(() =>
    sessions.list.map((session) => ({
      ...{ id: `session-${session.id}`, icon: MessageSquare },
      label: session.title || t('sessions.untitled'),
      detail: d(new Date(session.active_at), 'short'),
      run: () => go(`/s/${session.id}`),
    })),
  )
  async function go(path: string): Promise<void> {
    await router.push(path)
    // An open conversation looks at its address once more.
    if (path.includes('#')) window.dispatchEvent(new HashChangeEvent('hashchange'))
  }
  return { actions, settingsPages, fileEntries, modelEntries, conversations, go }
}
