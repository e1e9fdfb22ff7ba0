/** The Volvo users in their teams and divisions: memberships through the API, since imports do not support them. */
import { Docket } from '../../client/src/index.ts';
import type { Volvo } from './sources.ts';
import { inParallel } from './work.ts';

/** Puts each owner into the main team and its unit, then once more, which changes nothing. @returns problems, in words */
export async function tryMembers(docket: Docket, { members }: Volvo, say: (line: string) => void): Promise<string[]> {
  const [users, groups, units] = await Promise.all([
    docket.identity.users(),
    docket.identity.groups(),
    docket.identity.orgUnits(),
  ]);
  const userIds = new Map(users.map(({ login, id }) => [login, id]));
  const groupIds = new Map(groups.map(({ code, id }) => [code, id]));
  const unitIds = new Map(units.map(({ code, id }) => [code, id]));
  const problems: string[] = [];
  const made = new Map<string, string>();
  for (const round of ['first', 'again']) {
    const began = performance.now();
    await inParallel(members, async ({ login, team, unit }) => {
      const [memberId = '', groupId = '', organizationUnitId = ''] = [
        userIds.get(login),
        groupIds.get(team),
        unitIds.get(unit),
      ];
      const answers = [
        await docket.identity.addGroupMember({ groupId, memberId, memberType: 'user' }),
        await docket.identity.setOrgMember({ organizationUnitId, userId: memberId }),
      ];
      const ids = answers.map(({ id }) => id).join();
      if (round === 'again' && made.get(login) !== ids) problems.push(`${login} got other memberships`);
      made.set(login, ids);
    });
    say(
      `members: ${members.length} owners in their teams and units, ${round}, in ${((performance.now() - began) / 1000).toFixed(1)} s`,
    );
  }
  return problems;
}
