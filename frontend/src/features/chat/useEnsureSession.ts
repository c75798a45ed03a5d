import { useRouter } from 'vue-router'
import { useAuth } from '@/features/auth'
import { useConversation } from './conversation'
import { adoptDraft } from './drafts'

/** The conversation's id: it begins with its first message or file, not before, and once however many ask for it. */
export function useEnsureSession(sessionId: () => string | null, create: () => Promise<string>): () => Promise<string> {
  const auth = useAuth()
  const conversation = useConversation()
  const router = useRouter()
  let creating: Promise<string> | null = null

  async function begin(): Promise<string> {
    const id = await create()
    // Who opened another conversation meanwhile stays there.
    if (sessionId() === null) await conversation.open(id)
    adoptDraft(auth.user?.id ?? null, id)
    if (conversation.sessionId === id) await router.push(`/s/${id}`)
    return id
  }

  return async () => {
    const known = sessionId()
    if (known) return known
    creating ??= begin().finally(() => (creating = null))
    return await creating
  }
}
