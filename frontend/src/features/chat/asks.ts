import { call } from '@/api/client'

/** What the agent is asked for in the conversation that is open, besides an answer. */
export function createAsks(sessionId: () => string | null) {
  async function ask(path: string, body?: object): Promise<void> {
    const id = sessionId()
    if (id) await call('POST', `/sessions/${id}/${path}`, body ? { body } : {})
  }
  return {
    /** The agent goes on from where this run ended. */
    resume: (runId: string): Promise<void> => ask(`runs/${runId}/resume`),
    /** The agent goes on from a summary that tells most of the focus. */
    compact: (focus: string | null): Promise<void> => ask('compact', { focus }),
  }
}
