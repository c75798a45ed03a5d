import { computed, ref, type ComputedRef } from 'vue'
import { useSessions } from '@/features/sessions'
import { useModels } from '@/features/settings'
import { takenBackFor, type ChosenOptions } from './options'

/** Model and options of a conversation, or of the one that is about to begin. */
export function useChosen(sessionId: () => string | null): {
  model: ComputedRef<string | null>
  options: ComputedRef<ChosenOptions>
  create: () => Promise<string>
  pickModel: (id: string) => Promise<void>
  change: (options: ChosenOptions) => Promise<void>
} {
  const sessions = useSessions()
  const models = useModels()
  const firstModel = ref<string | null>(null)
  const firstOptions = ref<ChosenOptions>({})
  const session = computed(() => sessions.byId.get(sessionId() ?? ''))
  const model = computed(() => session.value?.model ?? firstModel.value)
  const options = computed<ChosenOptions>(() => session.value?.options ?? firstOptions.value)

  async function create(): Promise<string> {
    const created = await sessions.create(firstModel.value, firstOptions.value)
    firstOptions.value = {}
    return created.id
  }
  async function pickModel(id: string): Promise<void> {
    const taken = takenBackFor(models.find(id), options.value)
    firstModel.value = id
    const open = sessionId()
    if (open) await sessions.change(open, { model: id, options: taken })
    else firstOptions.value = { ...firstOptions.value, ...taken }
  }
  async function change(changed: ChosenOptions): Promise<void> {
    const open = sessionId()
    if (open) await sessions.change(open, { options: changed })
    else firstOptions.value = { ...firstOptions.value, ...changed }
  }
  return { model, options, create, pickModel, change }
}
