import { createMemoryHistory, createRouter, type Router } from 'vue-router'

/** A router that stands at this address: the first page, or a conversation (`/s/{id}`). */
export async function routerAt(path: string): Promise<Router> {
  const component = { template: '<div />' }
  const routes = ['/', '/s/:id'].map((one) => ({ path: one, component }))
  const router = createRouter({ history: createMemoryHistory(), routes })
  await router.push(path)
  return router
}
