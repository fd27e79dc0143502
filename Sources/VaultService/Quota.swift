import Policy
import StoreKeeping

/// One number for all stores of a person, whatever their policy keys: the one that holds for `default`.
extension Service {
    /// Asks for the person's groups where they make a difference: when a store is opened, and after the policy changed.
    func followQuota(of person: Person) async {
        let reading = policies.reading
        let answer = await people.policy(
            for: person, key: Vault.defaultName, keeps: vault.hasStore(person))
        vault.allotment(of: person).follow(
            answer.policy.policy, reading: answer.isKnown ? reading : nil)
    }

    /// Asks nobody: a `set` waits for no directory service. By the groups that were last known.
    @discardableResult
    func quotaNow(of person: Person) -> Allotment {
        let allotment = vault.allotment(of: person)
        guard allotment.reading != policies.reading else { return allotment }
        let subject = PolicySubject(
            user: person.name, groups: people.lastGroups(of: person) ?? [],
            store: Vault.defaultName)
        allotment.follow(policies.book.inForce(for: subject).policy, reading: policies.reading)
        return allotment
    }
}
