export function circlesIn(sources: ReadonlyMap<string, readonly string[]>): string[]
