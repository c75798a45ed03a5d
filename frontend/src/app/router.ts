import { createRouter, createWebHistory } from 'vue-router'
import { useAuth } from '@/features/auth'
import { keepOpen } from '@/features/sessions'
import { letBackClose } from '@/shared/lib/backCloses'
import { askBeforeLeaving } from '@/shared/lib/unsaved'
import { lazyPage } from '@/shared/ui/lazyPart'
import NotFoundPage from './NotFoundPage.vue'
import UnreachablePage from './UnreachablePage.vue'
import WorkspacePage from './WorkspacePage.vue'

/** One for both addresses: what is typed stays. */
const LoginPage = lazyPage(() => import('@/features/auth/LoginPage.vue'))

export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: '/', component: WorkspacePage },
    { path: '/s/:id', component: WorkspacePage },
    {
      path: '/corpus',
      component: lazyPage(() => import('@/features/research').then(({ CorpusPage }) => ({ default: CorpusPage }))),
    },
    {
      path: '/writing/:project?',
      component: lazyPage(() => import('@/features/writing').then(({ WritingPage }) => ({ default: WritingPage }))),
    },
    {
      path: '/login',
      component: LoginPage,
      props: (route) => ({ mode: 'login', next: route.query['next'] }),
      meta: { open: true },
    },
    {
      path: '/register',
      component: LoginPage,
      props: (route) => ({ mode: 'register', next: route.query['next'] }),
      meta: { open: true },
    },
    {
      path: '/share/:id',
      component: lazyPage(() => import('@/features/sharing/SharePage.vue')),
      props: true,
      meta: { open: true, forStrangers: true },
    },
    {
      path: '/unreachable',
      component: UnreachablePage,
      props: (route) => ({ next: route.query['next'] }),
      meta: { open: true },
    },
    { path: '/:rest(.*)*', component: NotFoundPage },
  ],
})

askBeforeLeaving(router)
letBackClose(router)
router.afterEach(({ path }, _, failure) => void (failure || keepOpen(path)))
router.beforeEach(async (to) => {
  if (to.path === '/unreachable' || to.meta['forStrangers']) return true
  const auth = useAuth()
  try {
    await auth.start()
  } catch {
    return { path: '/unreachable', query: { next: to.fullPath } }
  }
  if (!to.meta['open'] && !auth.isSignedIn) {
    const path = auth.status?.has_users === false && auth.status.registration_open ? '/register' : '/login'
    return { path, query: to.fullPath === '/' ? {} : { next: to.fullPath } }
  }
  return to.meta['open'] && auth.isSignedIn ? '/' : true
})
