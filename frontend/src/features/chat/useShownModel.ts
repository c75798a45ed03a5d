import { computed, type Ref } from 'vue'
import { useModels } from '@/features/settings'
import { face } from '@/shared/lib/face'
import { useConversation } from './conversation'

/** The model that answers next, and how much of what it can read is used. */
export function useShownModel(chosen: Readonly<Ref<string | null>>) {
  const conversation = useConversation()
  const models = useModels()
  /** That of the last run, as long as it is on offer: the next one begins with the default where it is not. */
  const lastModel = computed(() => {
    const last = conversation.transcript.run?.model ?? null
    return models.list.length === 0 || models.find(last) ? last : null
  })
  const model = computed(() => chosen.value ?? lastModel.value ?? models.standard?.id ?? null)
  const contextWindow = computed(() => models.find(model.value)?.context_window ?? null)
  /** Who does not look at tokens sees it once there is something to do about it. */
  const tokens = computed(() => conversation.transcript.contextTokens)
  const showsContext = computed(
    () => face.value === 'developer' || (tokens.value ?? 0) * 2 > (contextWindow.value ?? 0),
  )
  return { model, contextWindow, tokens, showsContext }
}
