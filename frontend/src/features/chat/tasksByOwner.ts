import type { Transcript } from './transcript'

type Task = Transcript['tasks']['tasks'][number]

/** The tasks by who has them: the members first, as they came, then whoever else has one, and last what nobody has. */
export function byOwner(tasks: readonly Task[], names: readonly string[]): { owner: string; tasks: Task[] }[] {
  const owners = new Set([...names, ...tasks.map(({ owner }) => owner).filter(Boolean), ''])
  return [...owners]
    .map((owner) => ({ owner, tasks: tasks.filter((task) => task.owner === owner) }))
    .filter(({ owner, tasks: own }) => own.length > 0 || owner !== '')
}
