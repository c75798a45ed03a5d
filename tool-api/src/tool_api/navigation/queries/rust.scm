(function_item name: (identifier) @name) @symbol.function
(function_signature_item name: (identifier) @name) @symbol.function
(struct_item name: (type_identifier) @name) @symbol.struct
(enum_item name: (type_identifier) @name) @symbol.enum
(union_item name: (type_identifier) @name) @symbol.union
(trait_item name: (type_identifier) @name) @symbol.trait
(mod_item name: (identifier) @name) @symbol.module
(const_item name: (identifier) @name) @symbol.constant
(static_item name: (identifier) @name) @symbol.variable
(type_item name: (type_identifier) @name) @symbol.type
(associated_type name: (type_identifier) @name) @symbol.type
(macro_definition name: (identifier) @name) @symbol.macro
(enum_variant name: (identifier) @name) @symbol.member
(field_declaration name: (field_identifier) @name) @symbol.field
(impl_item type: (_) @name) @scope.class
(closure_expression) @scope.function
(use_declaration) @scope.import
(extern_crate_declaration) @scope.import
